package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SnapshotIdTest {
    @Test
    void anIdReadsBackAsItWasWritten() {
        SnapshotId id = new SnapshotId(new VolumeId.Provisioned("lab", "cephfs", "g", "v"), "s1a");
        assertEquals("s1:lab:cephfs:g:v@s1a", id.toString());
        assertEquals(id, SnapshotId.parse(id.toString()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "@",
                "s1:lab:cephfs:g:v",
                "s1:lab:cephfs:g:v@",
                "@s",
                "s1:lab:cephfs:g:v@a@b",
                "s1:lab:cephfs:g:v@A",
                "s1:lab:cephfs:g:v@a/b",
                "static:lab:cephfs:/a@s",
                "s1:lab:cephfs:g:v@0123456789012345678901234"
            })
    void whatNoVersionCanHaveMadeIsRefused(String text) {
        assertEquals(Optional.empty(), SnapshotId.tryParse(text));
        assertThrows(DriverException.InvalidRequest.class, () -> SnapshotId.parse(text));
    }
}
