package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Digest;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Names a dataset as people do: by its digest, or by the beginning of it.
///
/// @param beginning 8 to 64 hexadecimal digits in lower case
public record DatasetName(String beginning) {
    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{8,64}");
    private static final int MAX_NAMED = 5;

    /// Returns whether `text` is a valid name.
    public static boolean isOne(String text) {
        return DIGITS.matcher(text).matches();
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `beginning` has another form
    public DatasetName {
        if (!isOne(beginning)) {
            throw new DriverException.InvalidRequest("dataset " + QuotedText.of(beginning)
                    + " must be a digest or its beginning: 8 to 64 hexadecimal digits in lower case");
        }
    }

    /// Returns the one digest of `known` that begins with this name.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if none does
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if several do
    public Digest among(Collection<Digest> known) {
        List<Digest> found = known.stream()
                .distinct()
                .filter(digest -> digest.hex().startsWith(beginning))
                .toList();
        if (found.isEmpty()) {
            throw new DriverException.NotFound("this node knows no dataset " + beginning
                    + ": it knows those that are attached and those with a replica, see `siphon cache list`");
        }
        if (found.size() > 1) {
            throw new DriverException.InvalidRequest("dataset " + beginning + " may be any of " + found.size()
                    + ", give more digits: "
                    + found.stream().map(Digest::hex).sorted().limit(MAX_NAMED).collect(Collectors.joining(", ")));
        }
        return found.getFirst();
    }
}
