package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.node.ceph.KernelMounter;
import dev.siphon.node.ceph.UnusableKeys;
import dev.siphon.node.linux.MountSyscalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The kernel client against a real Ceph, in a guest of the lab.
@Tag("kernel")
class KernelMounterIT extends CephMounterContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    Mounter mounter() {
        return new KernelMounter(new UnusableKeys());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "noacl",
                "norbytes",
                "rbytes",
                "nodcache",
                "dcache",
                "nowsync",
                "wsync",
                "sync",
                "dirsync",
                "rsize=65536",
                "wsize=65536",
                "rasize=1048576",
                "caps_max=1000",
                "readdir_max_entries=512",
                "readdir_max_bytes=65536",
                "write_congestion_kb=1024",
                "caps_wanted_delay_min=1",
                "caps_wanted_delay_max=60",
                "recover_session=no",
                "recover_session=clean",
                "ms_mode=legacy",
                "ms_mode=crc",
                "ms_mode=secure",
                "ms_mode=prefer-crc",
                "ms_mode=prefer-secure",
                "read_from_replica=no",
                "read_from_replica=balance",
                "read_from_replica=localize",
            })
    void everyOptionOfTheAllowListIsOneOfTheKernel(String option) {
        Path point = workplace.directory("one");
        mounter().mount(with(option), point, LIMIT);
        MountSyscalls.unmount(point.toString());
    }

    /// One value is out of range; the other option is not built into the guest's kernel.
    @ParameterizedTest
    @ValueSource(strings = {"rsize=1", "acl"})
    void whatTheKernelRefusesIsNamedInItsWords(String option) {
        Path point = workplace.directory("one");
        var e = assertThrows(
                DriverException.InvalidRequest.class, () -> mounter().mount(with(option), point, LIMIT));
        String message = String.valueOf(e.getMessage());
        assertTrue(message.contains(option) && message.contains("ceph: "), message);
        assertFalse(message.contains(lab().credentials().key().reveal()));
    }

    private ClientMount with(String option) {
        ClientMount volume = volume();
        return new ClientMount(
                volume.volume(),
                volume.monitors(),
                volume.fileSystem(),
                volume.path(),
                volume.credentials(),
                ClientOptions.of(List.of(option), false));
    }

    /// The kernel returns the same error for a missing file system and for one without an MDS.
    @Override
    Class<? extends DriverException> unknownFileSystem() {
        return DriverException.BackendUnavailable.class;
    }
}
