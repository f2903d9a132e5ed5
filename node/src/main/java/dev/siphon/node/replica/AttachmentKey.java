package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.util.regex.Pattern;

/// Which attachment of a dataset: a dataset may have several, each with a device and a tree of its own, so that each
/// can have its replica on another disk.
///
/// @param place a short name; [#ANYWHERE] for the one that is swapped to whatever replica there is
public record AttachmentKey(Digest digest, String place) {
    /// The place of the one attachment that a dataset has where it does not matter which disk serves it.
    public static final String ANYWHERE = "any";

    private static final Pattern PLACE = Pattern.compile("[a-z0-9]{1,12}");
    private static final int DIGEST_DIGITS = 40;

    public AttachmentKey {
        if (!PLACE.matcher(place).matches()) {
            throw new IllegalArgumentException("a place is 1 to 12 of a-z and 0-9, not " + place);
        }
    }

    static AttachmentKey anywhere(Digest digest) {
        return new AttachmentKey(digest, ANYWHERE);
    }

    /// What the loop device says of itself, whatever file is behind it: 160 bits of the digest tell datasets apart,
    /// and more do not fit beside the place.
    String tag() {
        return "siphon:" + digest.hex().substring(0, DIGEST_DIGITS) + ":" + place;
    }
}
