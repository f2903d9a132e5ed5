package dev.siphon.controller.seal;

import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The result of a packer.
///
/// @param digest of the manifest
/// @param bytes the size of the image
record SealedImage(Digest digest, long bytes) {
    private static final Pattern FORM = Pattern.compile("([0-9a-f]{64}) ([0-9]{1,18})");

    /// Parses a note.
    static Optional<SealedImage> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(new SealedImage(new Digest(matcher.group(1)), Long.parseLong(matcher.group(2))))
                : Optional.empty();
    }

    /// Returns the text of the note.
    String text() {
        return digest + " " + bytes;
    }

    /// Returns the id of a volume that shows the image without a claim.
    VolumeId.DatasetVolume volume(DatasetPlace place) {
        return new VolumeId.DatasetVolume(
                place.cluster(), place.fileSystem(), digest.beginning(), Optional.empty(), place.path());
    }
}
