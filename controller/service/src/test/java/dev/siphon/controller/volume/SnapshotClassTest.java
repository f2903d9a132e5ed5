package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.SnapshotClass.Modes;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.DriverException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SnapshotClassTest {
    private static final Map<String, String> METADATA = Map.of(
            "csi.storage.k8s.io/volumesnapshot/namespace", "u1",
            "csi.storage.k8s.io/volumesnapshot/name", "v1");

    private static SnapshotClass parse(Map<String, String> parameters) {
        Map<String, String> all = new HashMap<>(METADATA);
        all.putAll(parameters);
        return SnapshotClass.parse(all);
    }

    @Test
    void withoutAKindASnapshotStaysOne() {
        assertEquals(new SnapshotClass(Optional.empty()), SnapshotClass.parse(Map.of()));
        assertEquals(new SnapshotClass(Optional.empty()), parse(Map.of("kind", "snapshot")));
    }

    @ParameterizedTest(name = "modes {0}")
    @CsvSource({"readable, READABLE", "preserved, PRESERVED"})
    void aDatasetKeepsTheModesThatItIsTold(String text, Modes modes) {
        assertEquals(
                Optional.of(new Sealing(modes, new SnapshotRequest("u1", "v1"))),
                parse(Map.of("kind", "dataset", "modes", text)).sealing());
        assertEquals(
                Optional.of(Modes.READABLE),
                parse(Map.of("kind", "dataset")).sealing().map(Sealing::modes));
    }

    @Test
    void aDatasetMayBeOneFolderOfAVolume() {
        assertEquals(
                Optional.of("data"),
                parse(Map.of("kind", "dataset", "folder", "data")).sealing().map(Sealing::folder));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "kind, volume",
        "kind, ''",
        "modes, all",
        "knd, dataset",
        "modes, readable",
        "folder, data",
        "folder, ..",
        "folder, a/b",
        "folder, ''"
    })
    void whatCannotBeIsRefused(String name, String value) {
        Map<String, String> parameters = new HashMap<>(Map.of(name, value));
        if (value.equals("all") || (name.equals("folder") && !value.equals("data"))) {
            parameters.put("kind", "dataset");
        }
        assertTrue(assertThrows(DriverException.InvalidRequest.class, () -> parse(parameters))
                .getMessage()
                .contains(name));
    }

    @Test
    void aSnapshotterThatDoesNotSayForWhichObjectIsRefused() {
        String said = assertThrows(
                        DriverException.InvalidRequest.class, () -> SnapshotClass.parse(Map.of("kind", "dataset")))
                .getMessage();
        assertTrue(said.contains("--extra-create-metadata") && said.contains("siphon dataset seal"), said);
    }
}
