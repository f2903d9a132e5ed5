package dev.siphon.node;

import dev.siphon.csi.ByteSize;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.fuse.FuseCaches;
import java.util.Optional;
import picocli.CommandLine.Option;

/// The node's flags for ceph-fuse and erofsfuse, for picocli's `@Mixin`.
final class FuseFlags {
    @Option(
            names = "--fuse-socket",
            paramLabel = "SOCKET",
            defaultValue = "${env:SIPHON_FUSE_SOCKET:-}",
            description = "The socket of `siphon fuse`, whose ceph-fuse and erofsfuse outlive this process and its"
                    + " container (default: this process runs them itself).")
    private String socket = "";

    @Option(
            names = "--fuse-cache-size",
            paramLabel = "SIZE",
            defaultValue = "${env:SIPHON_FUSE_CACHE_SIZE:-128Mi}",
            description = "File contents that each ceph-fuse may keep in memory (default: 128Mi).")
    private String cacheSize = "";

    @Option(
            names = "--fuse-cached-inodes",
            paramLabel = "NUMBER",
            defaultValue = "${env:SIPHON_FUSE_CACHED_INODES:-16384}",
            description = "Files and directories whose metadata each ceph-fuse may keep in memory (default: 16384).")
    private int cachedInodes;

    ConfigProblems.ParsedValue<FuseConfig> read(ConfigProblems problems) {
        var supervisor = problems.read(
                "--fuse-socket",
                () -> Optional.of(socket).filter(text -> !text.isEmpty()).map(UnixEndpoint::parse));
        var size = problems.read("--fuse-cache-size", () -> ByteSize.bytes(cacheSize));
        var caches = problems.read(
                "--fuse-cache-size, --fuse-cached-inodes", size, bytes -> new FuseCaches(bytes, cachedInodes));
        return problems.readIfNone(() -> new FuseConfig(supervisor.get(), caches.get()));
    }
}
