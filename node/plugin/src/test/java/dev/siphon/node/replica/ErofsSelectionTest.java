package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErofsSelectionTest {
    private static final ImageMountKey KEY = ImageMountKey.anywhere(new Digest("0123456789abcdef".repeat(4)));
    private static final String TAG = "siphon:0123456789abcdef0123456789abcdef01234567:any";

    @ParameterizedTest(name = "EROFS {0}, erofsfuse {1}: {2}")
    @CsvSource({"true, true, KERNEL", "true, false, KERNEL", "false, true, PROGRAM"})
    void theKernelReadsWhereItCan(boolean kernel, boolean program, ErofsSelection.ErofsReader reader) {
        assertEquals(reader, new ErofsSelection(() -> kernel, () -> program, new FuseChildren()).choose());
    }

    @Test
    void whereNeitherIsTheRemedyNamesBoth() {
        DriverException.Unsupported said = assertThrows(
                DriverException.Unsupported.class,
                () -> new ErofsSelection(() -> false, () -> false, new FuseChildren()).choose());
        for (String word : List.of("modprobe erofs", "CONFIG_EROFS_FS", "install erofsfuse", "modprobe fuse")) {
            assertTrue(String.valueOf(said.getMessage()).contains(word), said.getMessage());
        }
    }

    @Test
    void theProcessIsNoDaemonAndItsTreeIsReadOnlyForEverybody() {
        assertEquals(
                List.of(
                        "-f",
                        "-o",
                        "ro,nosuid,nodev,allow_other,default_permissions,blkdev,blksize=4096,fsname=/dev/loop7,subtype="
                                + TAG,
                        "/dev/loop7",
                        "/state/datasets/0123/any/mount"),
                ErofsFuse.arguments("/dev/loop7", KEY, Path.of("/state/datasets/0123/any/mount")));
    }

    private static MountEntry mount(String type) {
        return new MountEntry(1, 1, "7:7", "/", "/nowhere", Set.of("ro"), type, "/dev/loop7", Set.of("ro"));
    }

    @Test
    void aTreeIsKnownByItsTypeAlone() {
        assertEquals(Optional.of(TAG), ErofsFuse.tag(mount("fuseblk." + TAG)));
        assertTrue(ImageMounts.isTree(mount("erofs")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fuseblk", "fuseblk.", "fuseblk.ntfs", "fuse." + TAG, "fuseblk.siphon:01:any"})
    void whatOthersMountIsNone(String type) {
        assertEquals(Optional.empty(), ErofsFuse.tag(mount(type)));
        assertFalse(ImageMounts.isTree(mount(type)));
        assertFalse(ErofsFuse.isDead(mount(type)), "it is not asked either");
    }
}
