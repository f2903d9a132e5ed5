package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Identifies one image mount of a dataset. A dataset may have several, each with its own device and tree, so that
/// each can read a replica on another disk.
///
/// @param place a short name: [#ANYWHERE] for the common tree, which reads any replica. Other names derive from the
///     cache directory that the tree is dedicated to.
public record ImageMountKey(Digest digest, String place) {
    /// The place of the common tree, for pods that do not need a certain disk.
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

    /// Returns the key of the tree dedicated to `cache`. The place depends on the path alone, and stays the same
    /// after a restart.
    static ImageMountKey at(Digest digest, Path cache) {
        ByteBuffer path = ByteBuffer.wrap(cache.toString().getBytes(StandardCharsets.UTF_8));
        return new ImageMountKey(digest, Digest.of(path).hex().substring(0, PLACE_CHARS));
    }

    /// Returns whether this is the common tree.
    boolean isCommon() {
        return place.equals(ANYWHERE);
    }

    /// Parses the directory `DIGEST/PLACE`; returns empty for any other directory.
    static Optional<ImageMountKey> parse(String digest, String place) {
        try {
            return Optional.of(new ImageMountKey(new Digest(digest), place));
        } catch (DriverException.InvalidRequest | IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /// Returns the tag of the loop device, whatever its backing file. It holds 160 bits of the digest, which
    /// suffice to distinguish datasets; more do not fit beside the place.
    String tag() {
        return "siphon:" + digest.beginning() + ":" + place;
    }

    /// Returns the beginning of the digest in a tag; empty for tags of other programs.
    static Optional<String> beginning(String tag) {
        Matcher parts = TAG.matcher(tag);
        return parts.matches() ? Optional.of(parts.group(1)) : Optional.empty();
    }
}
