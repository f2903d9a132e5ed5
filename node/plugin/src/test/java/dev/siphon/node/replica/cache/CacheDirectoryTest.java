package dev.siphon.node.replica.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CacheDirectoryTest {
    private static final Path PATH = Path.of("/mnt/nvme0/siphon");
    private static final Duration RETRY = Duration.ofMinutes(10);

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final List<Path> failed = new ArrayList<>();
    private final CacheDirectory directory =
            new CacheDirectory(new CacheDirectoryLimits(PATH, 1 << 30, 90), failed::add, () -> now);

    private void failsFor(Duration wanted) {
        directory.failing("EIO", RETRY);
        now = now.plus(wanted).minusSeconds(1);
        assertFalse(directory.isReadable());
        now = now.plusSeconds(1);
        assertTrue(directory.isReadable());
    }

    @Test
    void whoeverReadsThereIsToldOfAFailureOnceWhileItLasts() {
        directory.failing("EIO", RETRY);
        directory.failing("a second look met it too", RETRY);
        assertEquals(List.of(PATH), failed);
        assertEquals(1, directory.failures());
        assertEquals("EIO", directory.trouble().orElseThrow().why());
        now = now.plus(RETRY);
        directory.failing("EIO", RETRY);
        assertEquals(List.of(PATH, PATH), failed);
        assertEquals(2, directory.failures());
    }

    @Test
    void aDiskThatFailsAgainAndAgainIsLeftAloneLongerEachTimeUpToADay() {
        failsFor(Duration.ofMinutes(10));
        failsFor(Duration.ofMinutes(20));
        now = now.plus(Duration.ofHours(23));
        failsFor(Duration.ofMinutes(40));
        for (int i = 0; i < 40; i++) {
            directory.failing("EIO", RETRY);
            now = directory.trouble().orElseThrow().until();
        }
        failsFor(Duration.ofDays(1));
    }

    @Test
    void whatADiskDidIsForgottenWhenItHasWorkedForADay() {
        failsFor(Duration.ofMinutes(10));
        failsFor(Duration.ofMinutes(20));
        now = now.plus(Duration.ofDays(1));
        failsFor(Duration.ofMinutes(10));
    }

    @Test
    void aMissingDirectoryIsTriedAgainAfterTheSameTimeEachTime() {
        for (int i = 1; i <= 3; i++) {
            directory.missing(RETRY);
            directory.missing(RETRY);
            assertEquals(i, failed.size());
            assertEquals(now.plus(RETRY), directory.trouble().orElseThrow().until());
            now = now.plus(RETRY);
            assertTrue(directory.isReadable());
        }
        failsFor(RETRY);
    }

    @Test
    void aFullDiskMayBeReadAndIsNoFailure() {
        directory.full("ENOSPC", RETRY);
        assertTrue(directory.isReadable());
        assertTrue(directory.trouble().isPresent());
        assertEquals(List.of(), failed);
        assertEquals(0, directory.failures());
    }
}
