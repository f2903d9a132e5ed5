package dev.siphon.node.image;

import java.nio.file.Path;
import java.util.List;

/// The files around an image, all in one directory.
///
/// @param image the image itself, once it is complete
record ImageFiles(Path image) {
    /// The manifest. If it exists, the image is complete.
    Path manifest() {
        return beside(".manifest");
    }

    /// The image while it is being made.
    Path part() {
        return beside(".part");
    }

    /// The log of completed chunks of [#part].
    Path done() {
        return beside(".part.done");
    }

    /// The manifest before its rename.
    Path manifestPart() {
        return beside(".manifest.part");
    }

    /// The download of a remote import.
    Path download() {
        return beside(".download");
    }

    /// The origin of [#download].
    Path downloadOrigin() {
        return beside(".download.from");
    }

    /// The unpacked tar before its rename.
    Path tarPart() {
        return beside(".part.tar.part");
    }

    /// The unpacked tar.
    Path tar() {
        return beside(".part.tar");
    }

    /// The origin of [#tar].
    Path tarOrigin() {
        return beside(".part.tar.from");
    }

    /// Returns all of them but the image. The packer owns files with these names, and may delete them.
    List<Path> others() {
        return List.of(
                manifest(),
                part(),
                done(),
                manifestPart(),
                download(),
                downloadOrigin(),
                tarPart(),
                tar(),
                tarOrigin());
    }

    Path directory() {
        return image.resolveSibling(".").normalize();
    }

    private Path beside(String suffix) {
        return image.resolveSibling(image.getFileName() + suffix);
    }
}
