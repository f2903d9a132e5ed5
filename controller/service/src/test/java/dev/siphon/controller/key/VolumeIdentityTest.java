package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeIdentityTest {
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "fs.1", "a1", "v2");

    @Test
    void everyGenerationHasANameThatIsReadBack() {
        VolumeIdentity first = VolumeIdentity.first(VOLUME);
        assertEquals("siphon.fs.1.a1.v2", first.userId());
        assertEquals("siphon.fs.1.a1.v2.2", new VolumeIdentity(VOLUME, 2).userId());
        for (int generation = 1; generation < 12; generation++) {
            VolumeIdentity each = new VolumeIdentity(VOLUME, generation);
            assertEquals(Optional.of(each), VolumeIdentity.parse("lab", "fs.1", each.userId()));
            assertEquals(Optional.of(each), VolumeIdentity.of(VOLUME, each.userId()));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "siphon.fs.1.a1",
                "siphon.fs.1.a1.v2.0",
                "siphon.fs.1.a1.v2.x",
                "siphon.fs.1.a1.v2.2.2",
                "siphon.fs.2.a1.v2",
                "siphon-node",
                "admin",
                ""
            })
    void whatIsNoVolumesIdentityIsNone(String userId) {
        assertEquals(Optional.empty(), VolumeIdentity.parse("lab", "fs.1", userId));
    }

    @Test
    void aVolumeWhoseNameBeginsLikeAnothersHasOtherIdentities() {
        VolumeId.Provisioned longer = new VolumeId.Provisioned("lab", "fs.1", "a1", "v22");
        assertEquals(
                Optional.empty(),
                VolumeIdentity.of(VOLUME, VolumeIdentity.first(longer).userId()));
    }

    @Test
    void capsTellWhereObjectsAre() {
        Map<String, String> caps = Map.of("osd", "allow rw pool=cephfs.data namespace=fsvolumens__a1_v2");
        assertEquals(Optional.of("cephfs.data/fsvolumens__a1_v2"), new MintedIdentity("x", caps).objects());
        assertEquals(Optional.empty(), new MintedIdentity("x", Map.of("osd", "allow *")).objects());
        assertEquals(Optional.empty(), new MintedIdentity("x", Map.of()).objects());
    }
}
