package dev.siphon.node.mount;

import dev.siphon.node.ceph.FuseMounter;
import org.junit.jupiter.api.Tag;

/// ceph-fuse, against a real Ceph.
@Tag("fuse")
class FuseMounterIT extends CephMounterContract {
    @Override
    Mounter mounter() {
        return new FuseMounter("test-node");
    }
}
