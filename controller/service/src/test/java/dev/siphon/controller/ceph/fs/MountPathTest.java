package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;

class MountPathTest {
    @Test
    void stepsAreTheNamesOnTheWayAndASnapshotIsOne() {
        assertEquals(List.of(), MountPath.of("/").steps());
        assertEquals(
                List.of(MountPath.of("volumes"), MountPath.of("g"), MountPath.of(".snap/s"), MountPath.of("u")),
                MountPath.of("/volumes/g/.snap/s/u").steps());
    }

    @Test
    void bytesThatAreNotUtf8ComeThrough() {
        try (Arena arena = Arena.ofConfined()) {
            MountPath odd = new MountPath("a\377b");
            assertEquals(odd, MountPath.read(odd.in(arena), 0));
            assertEquals(4, odd.in(arena).byteSize());
        }
    }

    @Test
    void peopleSeeTheirOwnCharacters() {
        assertEquals("/größe", MountPath.of("/").child(MountPath.of("größe")).toString());
        assertTrue(MountPath.of("..").isSelfOrParent());
    }

    @Test
    void messagesHaveThePathInTheFileSystem() {
        MountPath path = MountPath.in("/volumes", "/g").child(MountPath.of("v"));
        assertEquals("/volumes/g/v", path.brief());
        assertEquals("/g/v", path.toString());
        assertEquals("/volumes", MountPath.in("/volumes", "/").brief());
    }
}
