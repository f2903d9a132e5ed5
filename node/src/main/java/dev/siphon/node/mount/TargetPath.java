package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/// A path of the host at which the caller wants a volume: absolute, free of `.`, `..` and control characters, and
/// not a place that belongs to the system. Whether a part of it is a symbolic link shows only when it is opened.
///
/// @param field the request's field that it stands in, for messages
/// @param text without doubled or trailing slashes, as the mount table has it
public record TargetPath(String field, String text) {
    /// `PATH_MAX` of `linux/limits.h`, less the terminating NUL.
    private static final int MAX_BYTES = 4095;

    /// `NAME_MAX` of `linux/limits.h`.
    private static final int MAX_PART_BYTES = 255;

    /// What the system itself lives in: neither these nor anything below them is a place for a volume.
    private static final Set<String> SYSTEM =
            Set.of("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr");

    /// Reads a path.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is missing or cannot be a place for a
    ///     volume
    public static TargetPath parse(String field, String wire) {
        if (wire.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is missing");
        }
        if (!wire.startsWith("/")) {
            throw refused(field, wire, "must be absolute");
        }
        if (octets(wire) > MAX_BYTES) {
            throw refused(field, wire, "is longer than " + MAX_BYTES + " bytes");
        }
        if (wire.codePoints().anyMatch(Character::isISOControl)) {
            throw refused(field, wire, "holds a control character");
        }
        List<String> parts = java.util.Arrays.stream(wire.split("/"))
                .filter(part -> !part.isEmpty())
                .toList();
        for (String part : parts) {
            if (part.equals(".") || part.equals("..")) {
                throw refused(field, wire, "holds '.' or '..'");
            }
            if (octets(part) > MAX_PART_BYTES) {
                throw refused(field, wire, "has a part of more than " + MAX_PART_BYTES + " bytes");
            }
        }
        // at least two parts: a volume mounted over /var or /home would hide what the host needs
        if (parts.size() < 2 || SYSTEM.contains(parts.getFirst())) {
            throw refused(field, wire, "is a system directory");
        }
        return new TargetPath(field, "/" + String.join("/", parts));
    }

    /// Where a volume is seen that is staged here.
    ///
    /// A kubelet unstages nothing whose device and root it sees mounted at any other path than its own
    /// (`GetDeviceMountRefs` in `pkg/volume/csi` of Kubernetes). Volumes of one dataset share both with each
    /// other, and a path that somebody named may with the client's own mount: so these are not at the staging
    /// path, which stays a directory, but in it.
    TargetPath staged(VolumeId volume) {
        return switch (volume) {
            case VolumeId.ByHand _ -> parse(field, text + "/tree");
            case VolumeId.Provisioned _ -> this;
        };
    }

    /// The directory that it is in.
    public String parent() {
        return text.substring(0, text.lastIndexOf('/'));
    }

    /// Its last part.
    public String name() {
        return text.substring(text.lastIndexOf('/') + 1);
    }

    /// Whether this is `directory`, or below it, or above it.
    boolean overlaps(String directory) {
        return (text + "/").startsWith(directory + "/") || (directory + "/").startsWith(text + "/");
    }

    private static DriverException refused(String field, String wire, String why) {
        return new DriverException.InvalidRequest(field + " " + QuotedText.of(wire) + " " + why);
    }

    private static int octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Override
    public String toString() {
        return field + " " + QuotedText.of(text);
    }
}
