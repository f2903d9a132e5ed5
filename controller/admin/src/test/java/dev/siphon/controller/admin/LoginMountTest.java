package dev.siphon.controller.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.VolumeKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LoginMountTest {
    private static LoginMount mount(String... monitors) {
        return new LoginMount(
                List.of(monitors),
                "cephfs",
                "/volumes/a1/h1/uuid",
                "siphon.cephfs.a1.d1",
                Path.of("/etc/ceph/u1.keyring"),
                Path.of("/home/u1"));
    }

    @Test
    void eachLineIsWhatItsProgramTakes() {
        LoginMount mount = mount("10.0.0.1", "10.0.0.2");
        assertEquals(
                "ceph-fuse -c /dev/null -m 10.0.0.1,10.0.0.2 --id siphon.cephfs.a1.d1 -k /etc/ceph/u1.keyring"
                        + " --client_fs cephfs -r /volumes/a1/h1/uuid /home/u1",
                mount.fuse());
        String options = "name=siphon.cephfs.a1.d1,secretfile=/etc/ceph/u1.keyring.secret,fs=cephfs,"
                + "ms_mode=prefer-crc,noatime,nosuid,nodev";
        String device = "10.0.0.1:3300,10.0.0.2:3300:/volumes/a1/h1/uuid";
        assertEquals("mount -t ceph " + device + " /home/u1 -o " + options, mount.kernel());
        assertEquals(device + " /home/u1 ceph " + options + ",_netdev 0 0", mount.fstab());
        assertEquals("u1 -fstype=ceph," + options + " :" + device, mount.autofs());
    }

    @Test
    void theKernelGetsOneAddressOfEachMonitor() {
        LoginMount mount = mount("[v1:10.0.0.1:6789,v2:10.0.0.1:3300]", "v2:10.0.0.2:3300", "[fd00::1]");
        assertTrue(mount.kernel().contains(" '10.0.0.1:3300,10.0.0.2:3300,[fd00::1]:3300:/volumes/"), mount.kernel());
        assertTrue(
                mount.fuse().contains(" -m '[v1:10.0.0.1:6789,v2:10.0.0.1:3300],v2:10.0.0.2:3300,[fd00::1]' "),
                mount.fuse());
    }

    @Test
    void aClusterOfTheOldProtocolIsSpokenToInIt() {
        assertTrue(mount("10.0.0.1:6789").fstab().startsWith("10.0.0.1:6789:/volumes/"));
        assertTrue(mount("v1:10.0.0.1").fstab().startsWith("10.0.0.1:6789:/volumes/"));
        assertFalse(mount("v1:10.0.0.1").fstab().contains("ms_mode"));
    }

    @Test
    void aWordWithBlanksStaysOneWord() {
        LoginMount odd = new LoginMount(
                List.of("10.0.0.1"), "cephfs", "/volumes", "id", Path.of("/a b/it's"), Path.of("/home/u1"));
        assertTrue(odd.fuse().contains(" -k '/a b/it'\\''s' "), odd.fuse());
    }

    @Test
    void keysAreWrittenForTheirOwnerAlone(@TempDir Path folder) throws Exception {
        VolumeKey key = new VolumeKey("siphon.x", "c2VjcmV0");
        Path keyring = folder.resolve("u1.keyring");
        Keyring.write(keyring, key);
        Keyring.write(keyring, key);
        assertEquals("[client.siphon.x]\n\tkey = c2VjcmV0\n", Files.readString(keyring));
        Path bare = folder.resolve("u1.keyring.secret");
        assertEquals("c2VjcmV0\n", Files.readString(bare));
        for (Path file : Set.of(keyring, bare)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        }
        try (var files = Files.list(folder)) {
            assertEquals(2, files.count());
        }
        assertFalse(key.toString().contains("c2VjcmV0"));
    }
}
