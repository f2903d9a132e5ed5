package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FreeSpaceGuardTest {
    private static FreeSpaceGuard room(long total, long usable) {
        return new FreeSpaceGuard(Path.of("/images"), new FreeSpaceGuard.Space() {
            @Override
            public long total() {
                return total;
            }

            @Override
            public long usable() {
                return usable;
            }
        });
    }

    @ParameterizedTest(name = "{1} of {0}, {2} wanted: {3}")
    @CsvSource({
        "1000, 1000, 950, true",
        "1000, 1000, 951, false",
        "1000, 50, 1, false",
        "1000, 51, 1, true",
        "1000000000000000, 2000000000000, 900000000000, true",
        "1000000000000000, 2000000000000, 901000000000, false"
    })
    void someIsLeftToOthers(long total, long usable, long wanted, boolean fits) {
        if (fits) {
            assertDoesNotThrow(() -> room(total, usable).check(wanted));
        } else {
            assertThrows(
                    DriverException.QuotaExhausted.class,
                    () -> room(total, usable).check(wanted));
        }
    }

    @Test
    void whatHasNoEndEndsBeforeTheFileSystemIsFull() {
        FreeSpaceGuard spaceGuard = room(1000, 40);
        long written = 0;
        try {
            while (written < 1L << 30) {
                spaceGuard.writing(1 << 20);
                written += 1 << 20;
            }
        } catch (DriverException.QuotaExhausted full) {
            assertTrue(full.getMessage().contains("\"/images\""), full.getMessage());
        }
        assertTrue(written < 32 << 20, () -> "it went on");
    }
}
