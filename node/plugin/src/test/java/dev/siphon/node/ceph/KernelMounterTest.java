package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.mount.MountedVolume;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelMounterTest {
    private static MountEntry entry(String type, String source, String root) {
        return new MountEntry(
                1, 0, "0:40", root, "/stage", Set.of("rw"), type, source, Set.of("name=u", "mds_namespace=fs"));
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1:3300:/volumes/g,                /v/uuid, /volumes/g/v/uuid",
        "'10.0.0.1:6789,10.0.0.2:6789:/volumes/g', /v/uuid, /volumes/g/v/uuid",
        "[fd00::1]:3300:/a/b,                     /,       /a/b",
    })
    void aMountOfItsFormIsRecognized(String source, String root, String path) {
        MountedVolume.Located located = (MountedVolume.Located)
                new KernelMounter().recognize(entry("ceph", source, root)).orElseThrow();
        assertEquals("fs", located.fileSystem());
        assertEquals(path, located.path());
    }

    @ParameterizedTest
    @CsvSource({
        "ext4, /dev/vda",
        "ceph, admin@0000.fs=/volumes/g",
        "ceph, none",
        "fuse.ceph-fuse, 10.0.0.1:3300:/volumes/g",
    })
    void anythingElseIsNot(String type, String source) {
        assertEquals(Optional.empty(), new KernelMounter().recognize(entry(type, source, "/")));
    }

    @Test
    void aVolumeIsKnownByItsPlace() {
        MountedVolume mounted = new KernelMounter()
                .recognize(entry("ceph", "10.0.0.1:3300:/volumes/g", "/v/uuid"))
                .orElseThrow();
        assertTrue(mounted.is(VolumeId.parse("s1:lab:fs:g:v")));
    }
}
