package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountedVolumeTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "its data directory,          s1:lab:fs:g:v,          /volumes/g/v/uuid,               true",
        "a subdirectory,              s1:lab:fs:g:v,          /volumes/g/v/uuid/sub,           true",
        "another file system,         s1:lab:other:g:v,       /volumes/g/v/uuid,               false",
        "another group,               s1:lab:fs:h:v,          /volumes/g/v/uuid,               false",
        "another volume,              s1:lab:fs:g:w,          /volumes/g/v/uuid,               false",
        "a volume with its prefix,    s1:lab:fs:g:v,          /volumes/g/v2/uuid,              false",
        "a snapshot of its account,   s1:lab:fs:g:r,          /volumes/g/v/.snap/s/uuid,       true",
        "a snapshot of another,       s1:lab:fs:h:r,          /volumes/g/v/.snap/s/uuid,       false",
        "the group itself,            s1:lab:fs:g:v,          /volumes/g,                      false",
        "its path,                    static:lab:fs:/a/b,     /a/b,                            true",
        "a path below its own,        static:lab:fs:/a/b,     /a/b/c,                          false",
        "a path above its own,        static:lab:fs:/a/b,     /a,                              false",
    })
    void aMountWithoutTagIsKnownByItsPlace(String name, String id, String path, boolean is) {
        MountedVolume mounted = new MountedVolume.Located("fs", path, Monitors.parse("10.0.0.1"));
        assertEquals(is, mounted.is(VolumeId.parse(id)), name);
    }
}
