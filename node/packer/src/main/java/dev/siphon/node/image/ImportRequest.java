package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.util.Optional;

/// An order to import.
///
/// @param sha256 of the tar as it is, compressed or not; required for a download
/// @param strip how many leading parts of each name in a tar are removed
/// @param image the file to make; its manifest is beside it, with the suffix `.manifest`
/// @param modes owners and permissions in the image
/// @param parallel how many directories or chunks are processed at once, each with 4 MiB of memory
public record ImportRequest(
        ImportOrigin origin, Optional<Digest> sha256, int strip, Path image, ImageModes modes, int parallel) {
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for invalid values
    public ImportRequest {
        image = image.toAbsolutePath().normalize();
        PackRequest.checkParallel(parallel);
        if (image.getFileName() == null) {
            throw new DriverException.InvalidRequest("the image has no name");
        }
        if (strip < 0) {
            throw new DriverException.InvalidRequest("strip-components must be 0 or more, not " + strip);
        }
        if (origin instanceof ImportOrigin.Remote && sha256.isEmpty()) {
            throw new DriverException.InvalidRequest(
                    "an address needs --sha256: otherwise the dataset would be whatever the server sends");
        }
        if (origin instanceof ImportOrigin.Local(Path path)
                && (path.equals(image) || new ImageFiles(image).others().contains(path))) {
            throw new DriverException.InvalidRequest(
                    "the source has the name of a temporary file of the image: choose another name for the image");
        }
    }
}
