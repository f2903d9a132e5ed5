package dev.siphon.controller.seal;

import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a packer has made.
///
/// @param digest of its manifest
/// @param bytes how long the image is
record SealedImage(Digest digest, long bytes) {
    private static final Pattern FORM = Pattern.compile("([0-9a-f]{64}) ([0-9]{1,18})");

    /// Reads a note.
    static Optional<SealedImage> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(new SealedImage(new Digest(matcher.group(1)), Long.parseLong(matcher.group(2))))
                : Optional.empty();
    }

    /// As it is noted.
    String text() {
        return digest + " " + bytes;
    }

    /// What shows it, for no claim.
    VolumeId.DatasetVolume volume(DatasetPlace place) {
        return new VolumeId.DatasetVolume(
                place.cluster(), place.fileSystem(), digest.beginning(), Optional.empty(), place.path());
    }
}
