package dev.siphon.node.rpc;

import csi.v1.VolumeCapability;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MountOptions;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.mount.PublishAccessMode;
import dev.siphon.node.mount.VolumeUse;
import java.util.List;
import java.util.Set;

/// Parses a volume capability. Refuses block volumes and file systems other than CephFS. Refuses
/// `volume_mount_group`, because CephFS has no gid option (new files get the account's gid anyway).
final class Capability {
    private static final String FIELD = "volume_capability";
    private static final Set<String> FILE_SYSTEMS = Set.of("", "ceph", "cephfs");

    private Capability() {}

    /// @param readOnly the request's own readonly field
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the capability is missing or not supported
    static VolumeUse read(boolean present, VolumeCapability capability, boolean readOnly) {
        if (!present) {
            throw new DriverException.InvalidRequest(FIELD + " is missing");
        }
        List<String> flags = flags(capability);
        if (!capability.hasAccessMode()) {
            throw new DriverException.InvalidRequest(FIELD + ".access_mode is missing");
        }
        return new VolumeUse(mode(capability.getAccessMode().getMode()), flags, readOnly);
    }

    private static List<String> flags(VolumeCapability capability) {
        return switch (capability.getAccessTypeCase()) {
            case BLOCK ->
                throw new DriverException.InvalidRequest(FIELD + ".block: CephFS has no block volumes, ask for mount");
            case ACCESSTYPE_NOT_SET -> throw new DriverException.InvalidRequest(FIELD + ".mount is missing");
            case MOUNT -> flags(capability.getMount());
        };
    }

    private static List<String> flags(VolumeCapability.MountVolume mount) {
        NodeRequestFields.checkLength(FIELD + ".mount.fs_type", mount.getFsType());
        if (!FILE_SYSTEMS.contains(mount.getFsType())) {
            throw new DriverException.InvalidRequest(
                    FIELD + ".mount.fs_type " + QuotedText.of(mount.getFsType()) + " must be empty or ceph");
        }
        if (!mount.getVolumeMountGroup().isEmpty()) {
            throw new DriverException.InvalidRequest(
                    FIELD + ".mount.volume_mount_group cannot be set: CephFS has no gid option");
        }
        NodeRequestFields.checkSize(
                FIELD + ".mount.mount_flags",
                mount.getMountFlagsList().stream()
                        .mapToInt(NodeRequestFields::octets)
                        .sum());
        mount.getMountFlagsList().forEach(MountOptions::check);
        return List.copyOf(mount.getMountFlagsList());
    }

    private static PublishAccessMode mode(VolumeCapability.AccessMode.Mode mode) {
        return switch (mode) {
            case SINGLE_NODE_WRITER -> PublishAccessMode.SINGLE_NODE_WRITER;
            case SINGLE_NODE_READER_ONLY -> PublishAccessMode.SINGLE_NODE_READER_ONLY;
            case SINGLE_NODE_SINGLE_WRITER -> PublishAccessMode.SINGLE_NODE_SINGLE_WRITER;
            case SINGLE_NODE_MULTI_WRITER -> PublishAccessMode.SINGLE_NODE_MULTI_WRITER;
            case MULTI_NODE_READER_ONLY -> PublishAccessMode.MULTI_NODE_READER_ONLY;
            case MULTI_NODE_SINGLE_WRITER -> PublishAccessMode.MULTI_NODE_SINGLE_WRITER;
            case MULTI_NODE_MULTI_WRITER -> PublishAccessMode.MULTI_NODE_MULTI_WRITER;
            case UNKNOWN, UNRECOGNIZED ->
                throw new DriverException.InvalidRequest(FIELD + ".access_mode.mode is missing or not known");
        };
    }
}
