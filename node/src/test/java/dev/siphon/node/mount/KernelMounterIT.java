package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.node.Lab;
import dev.siphon.node.ceph.KernelMounter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// The kernel's client, against a real Ceph, in a guest of the lab.
@Tag("kernel")
class KernelMounterIT extends MounterContract {
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
        return new KernelMounter();
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

    /// The kernel says the same of a file system that does not exist and of one without an MDS.
    @Override
    Class<? extends DriverException> unknownFileSystem() {
        return DriverException.BackendUnavailable.class;
    }
}
