package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;

/// What is to be packed, and how.
///
/// @param source a directory, absolute, with no symbolic link in its path
/// @param image the file that is to be made; its manifest is beside it, called the same with `.manifest` behind
/// @param modes who may read what in it
/// @param parallel how many directories or chunks are worked at at the same time, each with 4 MiB of memory
public record PackRequest(Path source, Path image, ImageModes modes, int parallel) {
    private static final int MOST = 256;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for what cannot be
    public PackRequest {
        source = source.toAbsolutePath().normalize();
        image = image.toAbsolutePath().normalize();
        checkParallel(parallel);
        if (image.getFileName() == null || image.startsWith(source)) {
            throw new DriverException.InvalidRequest(
                    "the image would be within the source, and have to hold itself: put it elsewhere");
        }
    }

    static void checkParallel(int parallel) {
        if (parallel < 1 || parallel > MOST) {
            throw new DriverException.InvalidRequest("parallel is " + parallel + ", which has to be 1 to " + MOST);
        }
    }
}
