package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// From loop devices and paths to datasets, volumes and pods, by a node's mount table.
final class MountedClueTest {
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final String PODS = "/var/lib/kubelet/pods/";
    private static final String FIRST = "0e3d5d7c-5c40-4c0e-9d5e-6a1b2c3d4e5f";
    private static final String SECOND = "1e3d5d7c-5c40-4c0e-9d5e-6a1b2c3d4e5f";
    /// Where the kubelet stages a claim's volume: a digest of its id.
    private static final String STAGED =
            "/var/lib/kubelet/plugins/kubernetes.io/csi/x/" + "f".repeat(64) + "/globalmount";

    private static final String FUSE = "siphon!s1%3Alab%3Acephfs%3Aa1%3Av1!10.0.0.1!x";

    @TempDir
    private Path folder = Path.of("");

    @SuppressWarnings("NullAway.Init")
    private MountedClue mounted;

    @BeforeEach
    void readTable() throws IOException {
        Path table = Files.writeString(
                folder.resolve("mountinfo"), """
                1 0 8:1 / / rw - ext4 /dev/sda1 rw
                8 1 7:3 / %6$s/tree ro - erofs /dev/loop3 ro
                2 1 7:3 / /var/lib/siphon/node/datasets/%1$s/any/mount ro - erofs /dev/loop3 ro
                3 1 7:3 / %2$s%3$s/volumes/kubernetes.io~csi/data/mount ro - erofs /dev/loop3 ro
                4 1 0:40 / /var/lib/kubelet/plugins/kubernetes.io/csi/x/globalmount rw - fuse.ceph-fuse %5$s rw
                5 1 0:40 /sub %2$s%4$s/volumes/kubernetes.io~csi/pvc-1/mount rw - fuse.ceph-fuse %5$s rw
                6 1 0:41 / /mnt/kernel rw - ceph 10.0.0.1:6789:/volumes/a1/v1/u rw
                7 1 7:4 / /mnt/snap ro - squashfs /dev/loop4 ro
                """.formatted(DIGEST, PODS, FIRST, SECOND, FUSE, STAGED));
        mounted = new MountedClue(
                MountTable.read(table),
                device -> device.equals("loop3") ? Optional.of("/mnt/nvme0/image") : Optional.empty());
    }

    private String of(String clue) {
        return mounted.of(clue).stream()
                .map(fact -> fact.what() + " " + fact.value())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void aLoopDeviceAndItsMountsLeadToTheDatasetAndItsPods() {
        String expected = """
                device /dev/loop3
                backfile /mnt/nvme0/image
                digest %1$s
                mounted %4$s/tree
                mounted /var/lib/siphon/node/datasets/%1$s/any/mount
                mounted %2$s%3$s/volumes/kubernetes.io~csi/data/mount
                pod with uid %3$s
                next siphon whois '%1$s' in a controller's pod says whose it is""".formatted(DIGEST, PODS, FIRST, STAGED);

        assertEquals(expected, of("/dev/loop3"));
        assertEquals(expected, of(PODS + FIRST + "/volumes/kubernetes.io~csi/data/mount"));
        assertEquals(expected, of("/var/lib/siphon/node/datasets/" + DIGEST + "/any/mount/deep/file"));
    }

    @Test
    void aMountOfAVolumeLeadsToItsIdAndPods() {
        assertEquals(
                """
                source %1$s
                volume s1:lab:cephfs:a1:v1
                mounted /var/lib/kubelet/plugins/kubernetes.io/csi/x/globalmount
                mounted %2$s%3$s/volumes/kubernetes.io~csi/pvc-1/mount
                pod with uid %3$s
                next siphon whois 's1:lab:cephfs:a1:v1' in a controller's pod says whose it is""".formatted(FUSE, PODS, SECOND), of(PODS + SECOND + "/volumes/kubernetes.io~csi/pvc-1/mount/file"));
    }

    @Test
    void aMountOfTheKernelLeadsToItsPath() {
        assertTrue(
                of("/mnt/kernel/file")
                        .endsWith("\nnext siphon whois '/volumes/a1/v1/u' in a controller's pod says whose it is"),
                of("/mnt/kernel/file"));
    }

    @Test
    void whatIsNotSiphonsIsNotFound() {
        for (String clue : new String[] {"/dev/loop4", "/dev/loop9", "/mnt/snap", "/etc/passwd"}) {
            assertThrows(DriverException.NotFound.class, () -> of(clue), clue);
        }
    }

    @Test
    void aRelativePathIsRefused() {
        for (String clue : new String[] {"", "mnt", "/mnt/../etc"}) {
            assertThrows(DriverException.InvalidRequest.class, () -> of(clue), clue);
        }
    }
}
