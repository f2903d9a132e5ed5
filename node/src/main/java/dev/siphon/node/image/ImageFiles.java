package dev.siphon.node.image;

import java.nio.file.Path;

/// The files around an image, all in one directory.
///
/// @param image the image itself, once it is whole
record ImageFiles(Path image) {
    /// What its readers go by: where this is, the image is whole.
    Path manifest() {
        return beside(".manifest");
    }

    /// The image while it is being made.
    Path part() {
        return beside(".part");
    }

    /// Which chunks of [#part] are done.
    Path done() {
        return beside(".part.done");
    }

    /// The manifest before it has its name.
    Path manifestPart() {
        return beside(".manifest.part");
    }

    Path directory() {
        return image.resolveSibling(".").normalize();
    }

    private Path beside(String suffix) {
        return image.resolveSibling(image.getFileName() + suffix);
    }
}
