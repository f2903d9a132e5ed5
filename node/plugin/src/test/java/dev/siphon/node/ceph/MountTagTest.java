package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MountTagTest {
    @ParameterizedTest
    @ValueSource(strings = {"s1:lab:cephfs:group:v-1", "static:lab:cephfs:/a b/c,d=e/\u00e9!x%20+y\\z"})
    void aTagIsReadAsItWasWritten(String id) {
        Monitors monitors = Monitors.parse("[v2:[fd00::1]:3300/0,v1:[fd00::1]:6789/0],mon.lab");
        MountTag tag = MountTag.of(VolumeId.parse(id), monitors);
        assertEquals(Optional.of(tag), MountTag.parse(tag.toString()));
        assertTrue(tag.toString().matches("[A-Za-z0-9!%+._*-]+"), "fit for a mount option: " + tag);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ceph-fuse",
                "siphon",
                "siphon!a!b",
                "siphon!not-an-id!10.0.0.1!x",
                "siphon!s1%3Alab%3Afs%3Ag%3Av!!x",
                "siphon!s1%3Alab%3Afs%3Ag%3Av!%zz!x",
                "other!s1%3Alab%3Afs%3Ag%3Av!10.0.0.1!x",
            })
    void whatSiphonDidNotWriteIsNotTakenForItsOwn(String source) {
        assertEquals(Optional.empty(), MountTag.parse(source));
    }
}
