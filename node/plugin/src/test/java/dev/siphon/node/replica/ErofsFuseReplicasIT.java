package dev.siphon.node.replica;

/// [ReplicasIT] on a node whose kernel has no EROFS.
class ErofsFuseReplicasIT extends ReplicasIT {
    @Override
    ErofsSelection erofs() {
        return ReplicaNode.FUSE;
    }
}
