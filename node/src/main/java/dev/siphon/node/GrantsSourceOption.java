package dev.siphon.node;

import dev.siphon.node.kubernetes.ApiAccess;
import java.nio.file.Path;

/// Where a node learns which namespaces may use whose volumes.
public sealed interface GrantsSourceOption {
    /// From nobody: every pod may use every volume that it is brought.
    record Nowhere() implements GrantsSourceOption {}

    /// From a file that the controller writes.
    record File(Path file) implements GrantsSourceOption {}

    /// From a ConfigMap that the controller writes.
    record Api(ApiAccess access, String namespace) implements GrantsSourceOption {}
}
