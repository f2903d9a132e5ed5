package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.linux.FileSystemUsage;
import dev.siphon.node.mount.VolumeUsage.DirectoryNumbers;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VolumeUsageTest {
    private static final Optional<Long> NONE = Optional.empty();

    @Test
    void aVolumesQuotaIsItsSize() {
        assertEquals(
                new VolumeUsage(100, 30, 70, 10, 4, 6),
                VolumeUsage.of(
                        new DirectoryNumbers(Optional.of(100L), Optional.of(10L), Optional.of(30L), Optional.of(5L)),
                        DirectoryNumbers.NONE,
                        new FileSystemUsage(1000, 900, 100)));
    }

    @Test
    void noMoreIsAvailableThanTheAllowanceHasLeft() {
        assertEquals(
                5,
                VolumeUsage.of(
                                new DirectoryNumbers(Optional.of(100L), NONE, Optional.of(30L), NONE),
                                DirectoryNumbers.NONE,
                                new FileSystemUsage(1000, 5, 995))
                        .availableBytes());
    }

    @Test
    void anOvershotQuotaLeavesNothingAndNotLess() {
        VolumeUsage usage = VolumeUsage.of(
                new DirectoryNumbers(Optional.of(100L), Optional.of(3L), Optional.of(130L), Optional.of(9L)),
                DirectoryNumbers.NONE,
                new FileSystemUsage(1000, 900, 100));
        assertEquals(0, usage.availableBytes());
        assertEquals(0, usage.availableInodes());
    }

    @Test
    void withoutQuotaTheFileSystemsNumbersCount() {
        assertEquals(
                new VolumeUsage(1000, 100, 900, VolumeUsage.UNLIMITED, 0, VolumeUsage.UNLIMITED),
                VolumeUsage.of(DirectoryNumbers.NONE, DirectoryNumbers.NONE, new FileSystemUsage(1000, 900, 100)));
    }

    @Test
    void noMoreIsAvailableThanTheAccountHasLeftWhateverTheFileSystemShows() {
        DirectoryNumbers volume =
                new DirectoryNumbers(Optional.of(100L), Optional.of(50L), Optional.of(30L), Optional.of(5L));
        DirectoryNumbers account =
                new DirectoryNumbers(Optional.of(60L), Optional.of(20L), Optional.of(45L), Optional.of(13L));
        assertEquals(
                new VolumeUsage(100, 30, 15, 50, 4, 8),
                VolumeUsage.of(volume, account, new FileSystemUsage(1000, 900, 100)));
        DirectoryNumbers full = new DirectoryNumbers(Optional.of(60L), NONE, Optional.of(61L), NONE);
        assertEquals(
                0,
                VolumeUsage.of(volume, full, new FileSystemUsage(1000, 900, 100))
                        .availableBytes());
    }
}
