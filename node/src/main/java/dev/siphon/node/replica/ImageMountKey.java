package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which attachment of a dataset: a dataset may have several, each with a device and a tree of its own, so that
/// each can have its replica on another disk.
///
/// @param place a short name; [#ANYWHERE] for the one that is swapped to whatever replica there is, and for
///     others that of the cache directory whose replica they are for
public record ImageMountKey(Digest digest, String place) {
    /// The place of the one attachment that a dataset has where it does not matter which disk serves it.
    public static final String ANYWHERE = "any";

    private static final int PLACE_CHARS = 12;
    private static final Pattern PLACE = Pattern.compile("[a-z0-9]{1,12}");
    private static final Pattern TAG = Pattern.compile("siphon:([0-9a-f]{40}):[a-z0-9]{1,12}");

    public ImageMountKey {
        if (!PLACE.matcher(place).matches()) {
            throw new IllegalArgumentException("a place is 1 to 12 of a-z and 0-9, not " + place);
        }
    }

    static ImageMountKey anywhere(Digest digest) {
        return new ImageMountKey(digest, ANYWHERE);
    }

    /// The attachment that is for the replica in `cache`, by its path: it has to be known again after a restart.
    static ImageMountKey at(Digest digest, Path cache) {
        ByteBuffer path = ByteBuffer.wrap(cache.toString().getBytes(StandardCharsets.UTF_8));
        return new ImageMountKey(digest, Digest.of(path).hex().substring(0, PLACE_CHARS));
    }

    /// The attachment whose folder is `DIGEST/PLACE`; empty if it is another folder.
    static Optional<ImageMountKey> parse(String digest, String place) {
        try {
            return Optional.of(new ImageMountKey(new Digest(digest), place));
        } catch (DriverException.InvalidRequest | IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /// What the loop device says of itself, whatever file is behind it: 160 bits of the digest tell datasets
    /// apart, and more do not fit beside the place.
    String tag() {
        return "siphon:" + digest.beginning() + ":" + place;
    }

    /// How the digest begins of the dataset whose tag this is; empty for the tags of others.
    static Optional<String> beginning(String tag) {
        Matcher parts = TAG.matcher(tag);
        return parts.matches() ? Optional.of(parts.group(1)) : Optional.empty();
    }
}
