package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;

/// Reads block devices from sysfs(5); never opens a device.
public final class BlockDevices {
    private static final Path BY_NUMBERS = Path.of("/sys/dev/block");

    /// The unit of sysfs' `size`, whatever the device's block size is.
    private static final int SECTOR_BYTES = 512;

    /// Positions in sysfs' `stat` (`Documentation/block/stat.rst` of Linux): sectors read, and milliseconds waited.
    private static final int SECTORS_READ = 2;

    private static final int READ_MILLIS = 3;

    private BlockDevices() {}

    /// What was read from a device since it was created, whatever was behind it.
    ///
    /// @param bytes the bytes read
    /// @param waited how long the reads took; simultaneous reads add up
    public record DeviceReads(long bytes, Duration waited) {
        public static final DeviceReads NONE = new DeviceReads(0, Duration.ZERO);

        /// Returns the sum.
        public DeviceReads plus(DeviceReads more) {
            return new DeviceReads(bytes + more.bytes, waited.plus(more.waited));
        }

        /// Returns what was read after `before`; nothing if the device was created again since.
        public DeviceReads since(DeviceReads before) {
            return bytes < before.bytes || waited.compareTo(before.waited) < 0
                    ? NONE
                    : new DeviceReads(bytes - before.bytes, waited.minus(before.waited));
        }
    }

    /// Returns what was read from a device.
    ///
    /// @param device `major:minor`, as in [MountEntry#device]
    /// @return nothing if there is no such block device
    public static DeviceReads reads(String device) {
        Path statistics = BY_NUMBERS.resolve(device).resolve("stat");
        try {
            String[] counts = Files.readString(statistics).strip().split(" +", -1);
            return new DeviceReads(
                    Long.parseLong(counts[SECTORS_READ]) * SECTOR_BYTES,
                    Duration.ofMillis(Long.parseLong(counts[READ_MILLIS])));
        } catch (NoSuchFileException _) {
            return DeviceReads.NONE;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + statistics, e);
        }
    }

    /// Returns the size of a device in bytes.
    ///
    /// @param device `major:minor`, as in [MountEntry#device]
    /// @return 0 if there is no such block device
    public static long bytes(String device) {
        Path size = BY_NUMBERS.resolve(device).resolve("size");
        try {
            return Long.parseLong(Files.readString(size).strip()) * SECTOR_BYTES;
        } catch (NoSuchFileException _) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + size, e);
        }
    }
}
