package dev.siphon.controller.rpc;

import csi.v1.TopologyRequirement;
import dev.siphon.controller.volume.CapacityRange;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;

/// Checks the rules for fields of every request (CSI v1.13, "Field Requirements"). A violation is
/// INVALID_ARGUMENT, with a message that names the field.
final class RequestFields {
    /// Maximum length of a string in bytes (CSI v1.13, "Size Limits").
    static final int MAX_TEXT_BYTES = 128;

    /// Maximum length of a map in bytes, keys and values together (CSI v1.13, "Size Limits").
    static final int MAX_MAP_BYTES = 4096;

    private static final Pattern SECRET_KEY = Pattern.compile("[A-Za-z0-9_.-]+");

    private RequestFields() {}

    /// Returns a name that the caller chose. CSI bans control characters in it, except tab, line feed and
    /// carriage return.
    static String name(String field, String value) {
        return text(
                field, value, MAX_TEXT_BYTES, c -> Character.isISOControl(c) && c != '\t' && c != '\n' && c != '\r');
    }

    /// Returns an id; no control characters are allowed.
    static String id(String field, String value) {
        return id(field, value, MAX_TEXT_BYTES);
    }

    /// Returns an id with its own length limit.
    static String id(String field, String value, int maxBytes) {
        return text(field, value, maxBytes, Character::isISOControl);
    }

    private static String text(String field, String value, int maxBytes, java.util.function.IntPredicate banned) {
        if (value.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is required");
        }
        int bytes = bytes(value);
        if (bytes > maxBytes) {
            throw new DriverException.InvalidRequest(
                    field + " has " + bytes + " bytes, more than the " + maxBytes + " that CSI allows");
        }
        if (value.codePoints().anyMatch(banned)) {
            throw new DriverException.InvalidRequest(
                    field + " " + QuotedText.of(value) + " holds control characters, which CSI forbids");
        }
        return value;
    }

    /// Returns a map of parameters or a volume context.
    static Map<String, String> map(String field, Map<String, String> map) {
        checkSize(field, map);
        map.forEach((key, value) -> {
            if (key.isEmpty() || key.codePoints().anyMatch(Character::isISOControl)) {
                throw new DriverException.InvalidRequest(
                        field + " has the key " + QuotedText.of(key) + ", which is empty or holds control characters");
            }
            if (value.codePoints().anyMatch(Character::isISOControl)) {
                throw new DriverException.InvalidRequest(
                        field + "[" + QuotedText.of(key) + "] " + QuotedText.of(value) + " holds control characters");
            }
        });
        return map;
    }

    /// Checks secrets, which no RPC requires; a message shows their keys at most.
    static void secrets(Map<String, String> secrets) {
        checkSize("secrets", secrets);
        for (String key : secrets.keySet()) {
            if (!SECRET_KEY.matcher(key).matches()) {
                throw new DriverException.InvalidRequest("secrets has the key " + QuotedText.of(key)
                        + "; keys consist of letters, digits, '-', '_' and '.'");
            }
        }
    }

    private static void checkSize(String field, Map<String, String> map) {
        int bytes = map.entrySet().stream()
                .mapToInt(entry -> bytes(entry.getKey()) + bytes(entry.getValue()))
                .sum();
        if (bytes > MAX_MAP_BYTES) {
            throw new DriverException.InvalidRequest(
                    field + " has " + bytes + " bytes, more than the " + MAX_MAP_BYTES + " that CSI allows");
        }
    }

    /// Returns the sizes that a caller accepts.
    ///
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if no size can meet them
    static CapacityRange capacity(csi.v1.CapacityRange range) {
        if (range.getRequiredBytes() == 0 && range.getLimitBytes() == 0) {
            throw new DriverException.InvalidRequest(
                    "capacity_range needs required_bytes or limit_bytes: at least one must be set");
        }
        return new CapacityRange(range.getRequiredBytes(), range.getLimitBytes());
    }

    /// Rejects topology: CSI allows it only if the driver has the capability, and this one does not.
    static void noTopology(String field, TopologyRequirement requirement) {
        if (requirement.getRequisiteCount() > 0 || requirement.getPreferredCount() > 0) {
            throw new DriverException.InvalidRequest(
                    field + " must not be set: volumes are reachable from everywhere, so this driver has no topology");
        }
    }

    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
