package dev.siphon.node.ceph;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.fuzz.ParserFuzz;
import org.junit.jupiter.api.Test;

/// Fuzzes the source field of mounts, including mounts of others.
final class MountTagParsingFuzzTest {
    @Test
    void sources() {
        MountTag tag = MountTag.of(
                new VolumeId.Provisioned("lab", "cephfs", "aone", "pvc-1"), Monitors.parse("10.0.0.1,[fd00::1]"));
        ParserFuzz.of(
                        "sources of mounts",
                        ParserFuzz.texts(tag.toString()),
                        bytes -> MountTag.parse(ParserFuzz.text(bytes)).ifPresent(MountTag::describe))
                .run();
    }
}
