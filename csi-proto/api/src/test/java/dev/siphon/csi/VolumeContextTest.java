package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.VolumeContext.MounterChoice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VolumeContextTest {
    private static final VolumeId ID = VolumeId.parse("s1:lab:cephfs:agroup:vvolume");

    private static VolumeContext context(List<String> monitors) {
        return new VolumeContext(
                monitors,
                "cephfs",
                "/volumes/agroup",
                Optional.of("vvolume"),
                MounterChoice.FUSE,
                List.of("noatime", "rsize=65536"),
                false,
                Optional.of("u1"),
                Optional.of(new ContainerUser.Numbered(1000, 100)));
    }

    @Test
    void whatIsWrittenIsReadBack() {
        VolumeContext written = context(List.of(
                "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]", "10.0.0.2:6789", "[v2:[fd00::1]:3300,v1:[fd00::1]:6789]"));
        assertEquals(written, VolumeContext.fromMap(ID, written.toMap()));
    }

    @Test
    void aStaticVolumeNeedsMonitorsOnly() {
        VolumeId fixed = VolumeId.parse("static:lab:cephfs:/shared/imagenet");
        VolumeContext read =
                VolumeContext.fromMap(fixed, Map.of("monitors", "10.0.0.1", "csi.storage.k8s.io/pod.name", "p"));
        assertEquals("/shared/imagenet", read.mountPath());
        assertTrue(read.dataPath().isEmpty());
        assertEquals(MounterChoice.AUTO, read.mounter());
        assertTrue(read.containerUser().isEmpty());
    }

    @ParameterizedTest
    @CsvSource({
        "monitors, ''",
        "mounter, nfs",
        "mountOptions, secret=abc",
        "mountOptions, 'noatime,name=admin'",
        "dataPath, ../v2",
        "mountPath, volumes/agroup",
        "containerUser, nobody",
        "containerUser, ''",
        "secret, abc"
    })
    void badValuesAreRefused(String key, String value) {
        Map<String, String> map = new HashMap<>(context(List.of("10.0.0.1")).toMap());
        map.put(key, value);
        DriverException.InvalidRequest refused =
                assertThrows(DriverException.InvalidRequest.class, () -> VolumeContext.fromMap(ID, map));
        assertTrue(!String.valueOf(refused.getMessage()).contains("abc"), refused.getMessage());
    }
}
