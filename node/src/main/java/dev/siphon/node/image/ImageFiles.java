package dev.siphon.node.image;

import java.nio.file.Path;
import java.util.List;

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

    /// What is imported, while it comes from elsewhere.
    Path download() {
        return beside(".download");
    }

    /// Where [#download] comes from.
    Path downloadOrigin() {
        return beside(".download.from");
    }

    /// A tar that was compressed, before its name.
    Path tarPart() {
        return beside(".part.tar.part");
    }

    /// A tar that was compressed.
    Path tar() {
        return beside(".part.tar");
    }

    /// What [#tar] was made of.
    Path tarOrigin() {
        return beside(".part.tar.from");
    }

    /// All but the image, which whoever makes one takes for its own: what has these names may be removed.
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
