package dev.siphon.node.rpc;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.TargetPath;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/// Parses fields that several requests share. An invalid field is INVALID_ARGUMENT, and the message names it.
final class NodeRequestFields {
    /// CSI v1.13, "Size Limits".
    static final int MAX_STRING_BYTES = 128;

    private static final int MAX_MAP_BYTES = 4 << 10;
    private static final String VOLUME_ID = "volume_id";

    private NodeRequestFields() {}

    /// Parses a volume's id; empty if no volume of this driver can have it.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is missing, too long, or contains a control
    ///     character
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if another version of this driver created the volume
    static Optional<VolumeId> volumeId(String text) {
        if (text.isEmpty()) {
            throw new DriverException.InvalidRequest(VOLUME_ID + " is missing");
        }
        checkLength(VOLUME_ID, text);
        if (text.codePoints().anyMatch(Character::isISOControl)) {
            throw new DriverException.InvalidRequest(
                    VOLUME_ID + " " + QuotedText.of(text) + " holds a control character");
        }
        VolumeId.checkFormat(VOLUME_ID, text);
        return VolumeId.tryParse(text);
    }

    /// Does the same as [#volumeId], for RPCs that need the volume to exist.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if no volume can have this id
    static VolumeId existingVolumeId(String text) {
        return volumeId(text).orElseThrow(() -> noSuchVolume(text));
    }

    static DriverException noSuchVolume(String id) {
        return new DriverException.NotFound(
                VOLUME_ID + " " + QuotedText.of(id) + " does not exist: it is not of this driver");
    }

    /// Parses an optional path.
    static Optional<TargetPath> optionalPath(String field, String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(TargetPath.parse(field, text));
    }

    static void checkLength(String field, String text) {
        if (octets(text) > MAX_STRING_BYTES) {
            throw new DriverException.InvalidRequest(field + " is longer than " + MAX_STRING_BYTES + " bytes");
        }
    }

    static void checkSize(String field, Map<String, String> map) {
        int size = map.entrySet().stream()
                .mapToInt(entry -> octets(entry.getKey()) + octets(entry.getValue()))
                .sum();
        checkSize(field, size);
    }

    static void checkSize(String field, int octets) {
        if (octets > MAX_MAP_BYTES) {
            throw new DriverException.InvalidRequest(field + " is larger than " + MAX_MAP_BYTES + " bytes");
        }
    }

    static int octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
