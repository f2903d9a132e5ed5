package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/// A path of the host at which the CO wants a volume: absolute, without `.`, `..` and control characters, and
/// outside system directories. Only opening it detects symbolic links.
///
/// @param field the request's field that holds it, for messages
/// @param text without doubled or trailing slashes, as in the mount table
public record TargetPath(String field, String text) {
    /// `PATH_MAX` of `linux/limits.h`, without the terminating NUL.
    private static final int MAX_BYTES = 4095;

    /// `NAME_MAX` of `linux/limits.h`.
    private static final int MAX_PART_BYTES = 255;

    /// Directories of the system; volumes are allowed neither in nor below them.
    private static final Set<String> SYSTEM =
            Set.of("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr");

    /// Parses a path.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is missing or not allowed for a volume
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
        // at least two parts: a volume mounted on /var or /home would hide what the host needs
        if (parts.size() < 2 || SYSTEM.contains(parts.getFirst())) {
            throw refused(field, wire, "is a system directory");
        }
        return new TargetPath(field, "/" + String.join("/", parts));
    }

    /// Returns where a volume staged at this path is mounted.
    ///
    /// A kubelet skips NodeUnstageVolume while the volume's device and root are mounted at any path but its staging
    /// path (`GetDeviceMountRefs` in `pkg/volume/csi` of Kubernetes). Volumes of one dataset share device and root,
    /// and a volume by hand may share them with the client's own mount. So both kinds are mounted in a
    /// subdirectory, and the staging path stays a plain directory.
    TargetPath staged(VolumeId volume) {
        return switch (volume) {
            case VolumeId.WithPath _ -> parse(field, text + "/tree");
            case VolumeId.Provisioned _ -> this;
        };
    }

    /// Returns its parent directory.
    public String parent() {
        return text.substring(0, text.lastIndexOf('/'));
    }

    /// Returns its last part.
    public String name() {
        return text.substring(text.lastIndexOf('/') + 1);
    }

    /// Whether this path equals `directory`, or one contains the other.
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
