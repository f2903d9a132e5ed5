package dev.siphon.node.rpc;

import csi.v1.VolumeCapability;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MountOptions;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeUse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Parses fields that several requests share. An invalid field is INVALID_ARGUMENT, and the message names it.
final class NodeRequestFields {
    /// CSI v1.13, "Size Limits".
    static final int MAX_STRING_BYTES = 128;

    private static final int MAX_MAP_BYTES = 4 << 10;
    private static final String VOLUME_ID = "volume_id";
    private static final String CAPABILITY = "volume_capability";
    private static final Set<String> FILE_SYSTEMS = Set.of("", "ceph", "cephfs");

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

    /// Parses a volume capability. Refuses block volumes and file systems other than CephFS. Refuses
    /// `volume_mount_group`, because CephFS has no gid option (new files get the account's gid anyway).
    ///
    /// @param readOnly the request's own readonly field
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the capability is missing or not supported
    static VolumeUse use(boolean present, VolumeCapability capability, boolean readOnly) {
        if (!present) {
            throw new DriverException.InvalidRequest(CAPABILITY + " is missing");
        }
        List<String> flags = flags(capability);
        if (!capability.hasAccessMode()) {
            throw new DriverException.InvalidRequest(CAPABILITY + ".access_mode is missing");
        }
        return new VolumeUse(mode(capability.getAccessMode().getMode()), flags, readOnly);
    }

    private static List<String> flags(VolumeCapability capability) {
        return switch (capability.getAccessTypeCase()) {
            case BLOCK ->
                throw new DriverException.InvalidRequest(
                        CAPABILITY + ".block: CephFS has no block volumes, ask for mount");
            case ACCESSTYPE_NOT_SET -> throw new DriverException.InvalidRequest(CAPABILITY + ".mount is missing");
            case MOUNT -> flags(capability.getMount());
        };
    }

    private static List<String> flags(VolumeCapability.MountVolume mount) {
        checkLength(CAPABILITY + ".mount.fs_type", mount.getFsType());
        if (!FILE_SYSTEMS.contains(mount.getFsType())) {
            throw new DriverException.InvalidRequest(
                    CAPABILITY + ".mount.fs_type " + QuotedText.of(mount.getFsType()) + " must be empty or ceph");
        }
        if (!mount.getVolumeMountGroup().isEmpty()) {
            throw new DriverException.InvalidRequest(
                    CAPABILITY + ".mount.volume_mount_group cannot be set: CephFS has no gid option");
        }
        checkSize(
                CAPABILITY + ".mount.mount_flags",
                mount.getMountFlagsList().stream()
                        .mapToInt(NodeRequestFields::octets)
                        .sum());
        mount.getMountFlagsList().forEach(MountOptions::check);
        return List.copyOf(mount.getMountFlagsList());
    }

    private static VolumeUse.PublishAccessMode mode(VolumeCapability.AccessMode.Mode mode) {
        return switch (mode) {
            case SINGLE_NODE_WRITER -> VolumeUse.PublishAccessMode.SINGLE_NODE_WRITER;
            case SINGLE_NODE_READER_ONLY -> VolumeUse.PublishAccessMode.SINGLE_NODE_READER_ONLY;
            case SINGLE_NODE_SINGLE_WRITER -> VolumeUse.PublishAccessMode.SINGLE_NODE_SINGLE_WRITER;
            case SINGLE_NODE_MULTI_WRITER -> VolumeUse.PublishAccessMode.SINGLE_NODE_MULTI_WRITER;
            case MULTI_NODE_READER_ONLY -> VolumeUse.PublishAccessMode.MULTI_NODE_READER_ONLY;
            case MULTI_NODE_SINGLE_WRITER -> VolumeUse.PublishAccessMode.MULTI_NODE_SINGLE_WRITER;
            case MULTI_NODE_MULTI_WRITER -> VolumeUse.PublishAccessMode.MULTI_NODE_MULTI_WRITER;
            case UNKNOWN, UNRECOGNIZED ->
                throw new DriverException.InvalidRequest(CAPABILITY + ".access_mode.mode is missing or not known");
        };
    }
}
