package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.CephKey;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.ClientOptions;
import dev.siphon.node.mount.MountedVolume;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelMounterTest {
    private final UnusableKeys unusable = new UnusableKeys(() -> "loaded once");
    private final KernelMounter mounter = new KernelMounter(unusable);

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
                mounter.recognize(entry("ceph", source, root)).orElseThrow();
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
        assertEquals(Optional.empty(), mounter.recognize(entry(type, source, "/")));
    }

    @Test
    void aVolumeIsKnownByItsPlace() {
        MountedVolume mounted = mounter.recognize(entry("ceph", "10.0.0.1:3300:/volumes/g", "/v/uuid"))
                .orElseThrow();
        assertTrue(mounted.is(VolumeId.parse("s1:lab:fs:g:v")));
    }

    @ParameterizedTest(name = "a key of kind {0}, \"{1}\": ceph-fuse next {2}")
    @CsvSource({
        "AES256K, libceph: cannot prepare key: -65,                  true",
        "AES256K, libceph: cannot prepare key: -524,                 true",
        "AES256K, libceph: mon0 (2)10.0.0.1:3300 connect error,      false",
        "AES256K, somebody: libceph: cannot prepare key: -65,        false",
        "AES,     libceph: cannot prepare key: -65,                  false",
    })
    void whatTheKernelCannotUseIsRemembered(CephKey.Kind kind, String line, boolean remembered) {
        ClientMount mount = new ClientMount(
                VolumeId.parse("s1:lab:fs:g:v"),
                Monitors.parse("10.0.0.1:3300"),
                "fs",
                "/volumes/g",
                new CephCredentials("u", CephKey.madeUp(kind)),
                ClientOptions.of(List.of(), false));
        DriverException told = mounter.explain(mount, "10.0.0.1:/", new ErrnoException("mount", 110), List.of(line));
        assertInstanceOf(DriverException.BackendUnavailable.class, told);
        KernelClient kernel = KernelClient.byRelease(true, "7.0.1");
        assertEquals(
                remembered,
                unusable.restrict(kernel).obstacle(CephKey.Kind.AES256K).isPresent());
        assertEquals(remembered, String.valueOf(told.getMessage()).contains("ceph-fuse"));
        assertEquals(Optional.empty(), unusable.restrict(kernel).obstacle(CephKey.Kind.AES));
    }
}
