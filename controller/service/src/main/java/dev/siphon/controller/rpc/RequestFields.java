package dev.siphon.controller.rpc;

import csi.v1.TopologyRequirement;
import csi.v1.VolumeCapability;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MountOptions;
import dev.siphon.csi.QuotedText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// Checks the rules for fields of every request (CSI v1.13, "Field Requirements"). A violation is
/// INVALID_ARGUMENT, with a message that names the field.
final class RequestFields {
    /// Maximum length of a string in bytes (CSI v1.13, "Size Limits").
    static final int MAX_TEXT_BYTES = 128;

    /// Maximum length of a map in bytes, keys and values together (CSI v1.13, "Size Limits").
    static final int MAX_MAP_BYTES = 4096;

    private static final Pattern SECRET_KEY = Pattern.compile("[A-Za-z0-9_.-]+");

    private static final Set<String> FS_TYPES = Set.of("", "ceph", "cephfs");

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

    /// Returns the access modes of a required list; refuses what a CephFS volume cannot offer
    /// (INVALID_ARGUMENT).
    static List<ClaimAccessMode> accessModes(String field, List<VolumeCapability> capabilities) {
        if (capabilities.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is required: at least one");
        }
        List<ClaimAccessMode> modes = new ArrayList<>();
        for (int i = 0; i < capabilities.size(); i++) {
            modes.add(accessMode(field + "[" + i + "]", capabilities.get(i)));
        }
        return modes;
    }

    /// Returns the access mode of one capability.
    static ClaimAccessMode accessMode(String field, VolumeCapability capability) {
        switch (capability.getAccessTypeCase()) {
            case MOUNT -> checkMount(field + ".mount", capability.getMount());
            case BLOCK ->
                throw new DriverException.InvalidRequest(
                        field + ".block: CephFS is a file system, so only access type mount is possible");
            case ACCESSTYPE_NOT_SET ->
                throw new DriverException.InvalidRequest(field + ".access_type is required: mount");
        }
        return switch (capability.getAccessMode().getMode()) {
            case SINGLE_NODE_WRITER -> ClaimAccessMode.SINGLE_NODE_WRITER;
            case SINGLE_NODE_READER_ONLY -> ClaimAccessMode.SINGLE_NODE_READER_ONLY;
            case MULTI_NODE_READER_ONLY -> ClaimAccessMode.MULTI_NODE_READER_ONLY;
            case MULTI_NODE_SINGLE_WRITER -> ClaimAccessMode.MULTI_NODE_SINGLE_WRITER;
            case MULTI_NODE_MULTI_WRITER -> ClaimAccessMode.MULTI_NODE_MULTI_WRITER;
            case SINGLE_NODE_SINGLE_WRITER -> ClaimAccessMode.SINGLE_NODE_SINGLE_WRITER;
            case SINGLE_NODE_MULTI_WRITER -> ClaimAccessMode.SINGLE_NODE_MULTI_WRITER;
            case UNKNOWN, UNRECOGNIZED ->
                throw new DriverException.InvalidRequest(
                        field + ".access_mode.mode is required, and must be one of CSI v1.13");
        };
    }

    private static void checkMount(String field, VolumeCapability.MountVolume mount) {
        if (!FS_TYPES.contains(mount.getFsType())) {
            throw new DriverException.InvalidRequest(
                    field + ".fs_type " + QuotedText.of(mount.getFsType()) + " must be empty, \"ceph\" or \"cephfs\"");
        }
        if (!mount.getVolumeMountGroup().isEmpty()) {
            throw new DriverException.InvalidRequest(field
                    + ".volume_mount_group: CephFS has no mount option for a group;"
                    + " files get the account's group");
        }
        int bytes = mount.getMountFlagsList().stream()
                .mapToInt(RequestFields::bytes)
                .sum();
        if (bytes > MAX_MAP_BYTES) {
            throw new DriverException.InvalidRequest(field + ".mount_flags has " + bytes + " bytes, more than the "
                    + MAX_MAP_BYTES + " that CSI allows");
        }
        for (String flag : mount.getMountFlagsList()) {
            try {
                MountOptions.check(flag);
            } catch (DriverException.InvalidRequest refused) {
                throw new DriverException.InvalidRequest(field + ".mount_flags: " + refused.getMessage());
            }
        }
    }

    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
