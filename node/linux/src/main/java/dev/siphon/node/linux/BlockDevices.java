package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Reads block devices from sysfs(5); never opens a device.
public final class BlockDevices {
    private static final Path BY_NUMBERS = Path.of("/sys/dev/block");

    /// The unit of sysfs' `size`, whatever the device's block size is.
    private static final int SECTOR_BYTES = 512;

    private BlockDevices() {}

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
