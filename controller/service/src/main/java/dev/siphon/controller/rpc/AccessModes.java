package dev.siphon.controller.rpc;

import csi.v1.VolumeCapability;
import dev.siphon.controller.volume.ClaimAccessMode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MountOptions;
import dev.siphon.csi.QuotedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Converts volume capabilities to access modes. Rejects what a CephFS volume cannot offer (INVALID_ARGUMENT).
final class AccessModes {
    private static final Set<String> FS_TYPES = Set.of("", "ceph", "cephfs");

    private AccessModes() {}

    /// Returns the access modes of a required list.
    static List<ClaimAccessMode> ofAll(String field, List<VolumeCapability> capabilities) {
        if (capabilities.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is required: at least one");
        }
        List<ClaimAccessMode> modes = new ArrayList<>();
        for (int i = 0; i < capabilities.size(); i++) {
            modes.add(of(field + "[" + i + "]", capabilities.get(i)));
        }
        return modes;
    }

    /// Returns the access mode of one capability.
    static ClaimAccessMode of(String field, VolumeCapability capability) {
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
        if (bytes > RequestFields.MAX_MAP_BYTES) {
            throw new DriverException.InvalidRequest(field + ".mount_flags has " + bytes + " bytes, more than the "
                    + RequestFields.MAX_MAP_BYTES + " that CSI allows");
        }
        for (String flag : mount.getMountFlagsList()) {
            try {
                MountOptions.check(flag);
            } catch (DriverException.InvalidRequest refused) {
                throw new DriverException.InvalidRequest(field + ".mount_flags: " + refused.getMessage());
            }
        }
    }
}
