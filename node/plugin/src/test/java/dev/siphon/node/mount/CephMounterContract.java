package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.node.Lab;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;

/// The contract of mounters against a real Ceph, with a volume of the lab.
abstract class CephMounterContract extends MounterContract {
    private static final long MIB = 1 << 20;

    private static Optional<Lab.Volume> made = Optional.empty();

    @BeforeAll
    static void makeVolume() {
        made = Optional.of(Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB));
    }

    static Lab.Volume lab() {
        return made.orElseThrow();
    }

    @Override
    final ClientMount volume() {
        return new ClientMount(
                lab().id(),
                Monitors.parse(Lab.monitors()),
                Lab.fileSystem(),
                lab().context().getOrDefault("mountPath", ""),
                lab().credentials(),
                ClientOptions.of(List.of(), false));
    }

    @Override
    final String writable() {
        return lab().path().substring(volume().path().length() + 1);
    }

    @Override
    final CephCredentials unknown() {
        return credentials("nobody", CephCredentialsTest.AES256K_KEY);
    }
}
