package dev.siphon.node;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.fuse.FuseCaches;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.rpc.SupervisedFuse;
import java.util.Optional;

/// How a node runs FUSE programs.
///
/// @param supervisor the socket of `siphon fuse`; empty if the node runs them itself
/// @param caches the cache sizes of each ceph-fuse
record FuseConfig(Optional<UnixEndpoint> supervisor, FuseCaches caches) {
    FuseProcesses processes() {
        return supervisor.<FuseProcesses>map(SupervisedFuse::new).orElseGet(FuseChildren::new);
    }
}
