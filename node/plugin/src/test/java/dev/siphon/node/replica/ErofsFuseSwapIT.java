package dev.siphon.node.replica;

/// [SwapUnderFireIT] on a node whose kernel has no EROFS.
class ErofsFuseSwapIT extends SwapUnderFireIT {
    @Override
    ErofsSelection erofs() {
        return ReplicaNode.FUSE;
    }
}
