package dev.siphon.controller.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What an administrator may write is recognized by its form.
final class ClueTest {
    private static final String GROUP = "a0123456789abcdefghij";
    private static final String VOLUME = "v0123456789abcdefghij";
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    @Test
    void eachFormIsRecognized() {
        VolumeId volume = new VolumeId.Provisioned("lab", "cephfs", GROUP, VOLUME);
        String path = "/volumes/" + GROUP + "/" + VOLUME;
        Map<String, Clue> forms = Map.ofEntries(
                Map.entry(path, new Clue.PathInCeph(path)),
                Map.entry("10.0.0.1:6789,10.0.0.2:6789:" + path, new Clue.PathInCeph(path)),
                Map.entry("x@5f7e-0a.cephfs=" + path, new Clue.PathInCeph(path)),
                Map.entry("siphon!s1%3Alab%3Acephfs%3A" + GROUP + "%3A" + VOLUME + "!m!1", new Clue.WholeId(volume)),
                Map.entry(volume.toString(), new Clue.WholeId(volume)),
                Map.entry(GROUP, new Clue.GroupCode(GROUP)),
                Map.entry(VOLUME, new Clue.SubvolumeCode(VOLUME)),
                Map.entry("client.siphon.cephfs.a1.v1.2", new Clue.IdentityName("siphon.cephfs.a1.v1.2")),
                Map.entry("siphon-dataset.cephfs.0v", new Clue.IdentityName("siphon-dataset.cephfs.0v")),
                Map.entry("client.4305", new Clue.SessionNumber(4305)),
                Map.entry("10001", new Clue.BareNumber(10_001)),
                Map.entry("siphon:0123456789ab:any", new Clue.DigestBeginning("0123456789ab")),
                Map.entry(DIGEST, new Clue.DigestBeginning(DIGEST)),
                Map.entry("0123456789ab", new Clue.DigestBeginning("0123456789ab")),
                Map.entry("/mnt/nvme0/siphon/" + DIGEST + "/image", new Clue.DigestBeginning(DIGEST)),
                Map.entry(
                        "/var/lib/kubelet/pods/0e3d5d7c-5c40-4c0e-9d5e-6a1b2c3d4e5f/volumes/x",
                        new Clue.PodUid("0e3d5d7c-5c40-4c0e-9d5e-6a1b2c3d4e5f")),
                Map.entry("u1/train-0", new Clue.InNamespace(new NamespacedName("u1", "train-0"))),
                Map.entry("group:vision", new Clue.PlainName("group:vision")),
                Map.entry("pvc-1", new Clue.PlainName("pvc-1")));

        forms.forEach((text, clue) -> assertEquals(clue, Clue.parse(text), text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "a/b/c", "U1/x", "../x"})
    void anythingElseIsRefused(String text) {
        assertThrows(DriverException.InvalidRequest.class, () -> Clue.parse(text));
    }

    @Test
    void aDeviceIsKnownOnItsNodeOnly() {
        DriverException refused = assertThrows(DriverException.InvalidRequest.class, () -> Clue.parse("/dev/loop3"));

        assertTrue(String.valueOf(refused.getMessage()).contains("in the node's pod of Siphon"), refused.toString());
    }
}
