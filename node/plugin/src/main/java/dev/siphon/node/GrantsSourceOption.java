package dev.siphon.node;

import dev.siphon.node.kubernetes.ApiAccess;
import java.nio.file.Path;

/// The node's source of grants: which namespaces may use whose volumes.
public sealed interface GrantsSourceOption {
    /// No source: every pod may use every volume that it receives.
    record Nowhere() implements GrantsSourceOption {}

    /// A file that the controller writes.
    record File(Path file) implements GrantsSourceOption {}

    /// A ConfigMap that the controller writes.
    record Api(ApiAccess access, String namespace) implements GrantsSourceOption {}
}
