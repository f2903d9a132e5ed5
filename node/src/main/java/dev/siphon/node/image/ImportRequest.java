package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.Optional;

/// What is to be imported, and how.
///
/// @param sha256 of the tar's bytes as they are, compressed or not; a server's file needs it
/// @param strip so many parts of each name in a tar are left out
/// @param image the file that is to be made; its manifest is beside it, called the same with `.manifest` behind
/// @param modes who may read what in it
/// @param parallel how many directories or chunks are worked at at the same time, each with 4 MiB of memory
public record ImportRequest(
        ImportOrigin origin, Optional<Digest> sha256, int strip, Path image, ImageModes modes, int parallel) {
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for what cannot be
    public ImportRequest {
        image = image.toAbsolutePath().normalize();
        PackRequest.checkParallel(parallel);
        if (image.getFileName() == null) {
            throw new DriverException.InvalidRequest("the image has no name");
        }
        if (strip < 0) {
            throw new DriverException.InvalidRequest("strip-components is " + strip + ", and has to be 0 or more");
        }
        if (origin instanceof ImportOrigin.Remote && sha256.isEmpty()) {
            throw new DriverException.InvalidRequest(
                    "an address needs --sha256: else whatever the server sends would be the dataset");
        }
        if (origin instanceof ImportOrigin.Local(Path path)
                && (path.equals(image) || new ImageFiles(image).others().contains(path))) {
            throw new DriverException.InvalidRequest(
                    "the source has the name of a file that the image is made by: choose another name for the image");
        }
    }
}
