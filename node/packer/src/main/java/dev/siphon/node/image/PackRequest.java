package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;

/// An order to pack a directory.
///
/// @param source a directory, absolute, without symbolic links in its path
/// @param image the file to make; its manifest is beside it, with the suffix `.manifest`
/// @param modes owners and permissions in the image
/// @param parallel how many directories or chunks are processed at once, each with 4 MiB of memory
public record PackRequest(Path source, Path image, ImageModes modes, int parallel) {
    private static final int MOST = 256;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for invalid values
    public PackRequest {
        source = source.toAbsolutePath().normalize();
        image = image.toAbsolutePath().normalize();
        checkParallel(parallel);
        if (image.getFileName() == null || image.startsWith(source)) {
            throw new DriverException.InvalidRequest(
                    "the image lies within the source and would contain itself: put it elsewhere");
        }
    }

    static void checkParallel(int parallel) {
        if (parallel < 1 || parallel > MOST) {
            throw new DriverException.InvalidRequest("parallel must be 1 to " + MOST + ", not " + parallel);
        }
    }
}
