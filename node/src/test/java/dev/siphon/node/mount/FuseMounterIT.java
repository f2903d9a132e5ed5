package dev.siphon.node.mount;

import dev.siphon.node.Lab;
import dev.siphon.node.ceph.FuseMounter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// ceph-fuse, against a real Ceph.
@Tag("fuse")
class FuseMounterIT extends MounterContract {
    private static final long MIB = 1 << 20;

    private static Optional<Lab.Volume> made = Optional.empty();

    @BeforeAll
    static void makeVolume() {
        made = Optional.of(Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB));
    }

    private static Lab.Volume lab() {
        return made.orElseThrow();
    }

    @Override
    Mounter mounter() {
        return new FuseMounter("test-node");
    }

    @Override
    ClientMount volume() {
        return new ClientMount(
                lab().id(),
                Monitors.parse(Lab.monitors()),
                Lab.fileSystem(),
                lab().context().getOrDefault("mountPath", ""),
                lab().credentials(),
                ClientOptions.of(List.of(), false));
    }

    @Override
    String writable() {
        return lab().path().substring(volume().path().length() + 1);
    }

    @Override
    CephCredentials unknown() {
        return credentials("nobody", CephCredentialsTest.AES256K_KEY);
    }
}
