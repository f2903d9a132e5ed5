package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OpenedDatasetsTest {
    private static final Digest DIGEST = new Digest("0123456789abcdef".repeat(4));
    private static final CephCredentials KEY = MounterContract.credentials("u", CephCredentialsTest.AES_KEY);
    private static final CephCredentials OTHER = MounterContract.credentials("v", CephCredentialsTest.AES_KEY);
    private final DriverException away = new DriverException.BackendUnavailable("nobody answers");

    @TempDir
    private Path folder = Path.of("");

    private Instant now = Instant.parse("2026-11-28T12:00:00Z");

    private OpenedDatasets opened(Duration offlineFor) {
        return new OpenedDatasets(folder, offlineFor, () -> now);
    }

    private static VolumeId.DatasetVolume volume(Optional<String> claim, String path) {
        return new VolumeId.DatasetVolume("lab", "fs", DIGEST.beginning(), claim, path);
    }

    private static final VolumeId.DatasetVolume VOLUME = volume(Optional.empty(), "/datasets/x");

    @Test
    void whatWasOpenedCountsForItsTimeInEachRun() {
        opened(Duration.ofHours(24)).add(volume(Optional.of("0123456789ab"), "/datasets/x"), DIGEST, KEY);
        now = now.plus(Duration.ofHours(24)).minusNanos(1);
        OpenedDatasets later = opened(Duration.ofHours(24));
        later.sweep();
        assertEquals(DIGEST, later.lately(VOLUME, away));
        assertEquals(Optional.of(DIGEST), later.lately(VOLUME, KEY));
        now = now.plusNanos(1);
        assertThrows(DriverException.BackendUnavailable.class, () -> later.lately(VOLUME, away));
        assertEquals(Optional.empty(), later.lately(VOLUME, KEY));
    }

    @Test
    void anotherKeyOrPlaceDoesNotCount() {
        OpenedDatasets opened = opened(Duration.ofHours(1));
        opened.add(VOLUME, DIGEST, KEY);
        assertEquals(Optional.empty(), opened.lately(VOLUME, OTHER));
        assertThrows(
                DriverException.BackendUnavailable.class,
                () -> opened.lately(volume(Optional.empty(), "/datasets/y"), away));
    }

    @Test
    void anOpeningInTheFutureDoesNotCount() {
        OpenedDatasets opened = opened(Duration.ofHours(1));
        opened.add(VOLUME, DIGEST, KEY);
        now = now.minusSeconds(1);
        DriverException refused =
                assertThrows(DriverException.BackendUnavailable.class, () -> opened.lately(VOLUME, away));
        assertEquals(
                "nobody answers; this node has not opened the dataset within 1h before, so it shows no replica either",
                refused.getMessage());
    }

    @Test
    void zeroKeepsNothing() throws IOException {
        opened(Duration.ZERO).add(VOLUME, DIGEST, KEY);
        assertEquals(List.of(), files());
        opened(Duration.ofHours(1)).add(VOLUME, DIGEST, KEY);
        assertEquals(Optional.empty(), opened(Duration.ZERO).lately(VOLUME, KEY));
        opened(Duration.ZERO).sweep();
        assertEquals(List.of(), files());
    }

    @Test
    void theKeyIsNotKept() throws IOException {
        opened(Duration.ofHours(1)).add(VOLUME, DIGEST, KEY);
        String text = Files.readString(files().getFirst());
        assertTrue(text.contains(DIGEST.hex()), text);
        assertFalse(text.contains(CephCredentialsTest.AES_KEY), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "2026-11-28T12:00:00Z\n", "x\ny\nz\n", "2026-11-28T12:00:00Z\nx\ny\n"})
    void aDamagedRecordDoesNotCount(String text) throws IOException {
        OpenedDatasets opened = opened(Duration.ofHours(1));
        opened.add(VOLUME, DIGEST, KEY);
        Files.writeString(files().getFirst(), text);
        assertEquals(Optional.empty(), opened.lately(VOLUME, KEY));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
