package dev.siphon.csi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The volume's data for nodes, as the `volume_context` of CSI. A PV keeps it for ever, so it holds nothing that
/// may change later (quota, keys). This file defines all keys of the map.
///
/// @param monitors the cluster's monitors in the format of `mon_host`; a node may know newer ones
/// @param fileSystem the Ceph file system
/// @param mountPath the directory to mount: the path of a static volume, otherwise the account's subvolumegroup.
///     The client then enforces the group's quota (client/quota: an ancestor's quota counts only if the mount
///     reaches it)
/// @param dataPath the subvolume below `mountPath`, without leading `/`; its one data directory is bind-mounted.
///     For a snapshot-backed volume, the one in the snapshot; empty for a static volume
/// @param mounter the mounter that the class requests
/// @param mountOptions more mount options that the class requests, already checked against the allow list
/// @param readOnly whether the volume can never be written (backed by a snapshot)
/// @param owner the account, for people; empty for a static volume
/// @param containerUser the user of containers that maps to the account; empty maps no user
public record VolumeContext(
        List<String> monitors,
        String fileSystem,
        String mountPath,
        Optional<String> dataPath,
        MounterChoice mounter,
        List<String> mountOptions,
        boolean readOnly,
        Optional<String> owner,
        Optional<ContainerUser> containerUser) {
    private static final String MONITORS = "monitors";
    private static final String FS_NAME = "fsName";
    private static final String MOUNT_PATH = "mountPath";
    private static final String DATA_PATH = "dataPath";
    private static final String MOUNTER = "mounter";
    private static final String READ_ONLY = "readOnly";
    private static final String OWNER = "owner";

    /// The client that mounts; `auto` uses the kernel's if it has one.
    public enum MounterChoice {
        AUTO,
        KERNEL,
        FUSE;

        /// Parses a mounter.
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is not kernel, fuse or auto
        public static MounterChoice parse(String text) {
            return switch (text) {
                case "auto" -> AUTO;
                case "kernel" -> KERNEL;
                case "fuse" -> FUSE;
                default ->
                    throw new DriverException.InvalidRequest(
                            "mounter " + QuotedText.of(text) + " must be kernel, fuse or auto");
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    public VolumeContext {
        monitors = List.copyOf(monitors);
        mountOptions = List.copyOf(mountOptions);
        VolumeId.Part.FILE_SYSTEM.check(fileSystem);
        CephPath.check(mountPath);
        mountOptions.forEach(MountOptions::check);
    }

    /// Returns this place with the mounter and mount options of `other`, another context of the same place.
    public VolumeContext usedAs(VolumeContext other) {
        return new VolumeContext(
                monitors,
                fileSystem,
                mountPath,
                dataPath,
                other.mounter,
                other.mountOptions,
                readOnly,
                owner,
                containerUser);
    }

    /// Returns the map for `volume_context`.
    public Map<String, String> toMap() {
        Map<String, String> map = new LinkedHashMap<>();
        map.put(MONITORS, String.join(",", monitors));
        map.put(FS_NAME, fileSystem);
        map.put(MOUNT_PATH, mountPath);
        dataPath.ifPresent(path -> map.put(DATA_PATH, path));
        map.put(MOUNTER, mounter.toString());
        if (!mountOptions.isEmpty()) {
            map.put(MountOptions.KEY, String.join(",", mountOptions));
        }
        if (readOnly) {
            map.put(READ_ONLY, "true");
        }
        owner.ifPresent(name -> map.put(OWNER, name));
        containerUser.ifPresent(user -> map.put(ContainerUser.KEY, user.toString()));
        return map;
    }

    /// Parses the map of [#toMap], or one that a person wrote into a static PV. The latter has `monitors`, and
    /// optionally `mounter`, `mountOptions` and `containerUser`; the id has file system and path. Ignores keys of
    /// Kubernetes, which start with `csi.storage.k8s.io/` or `storage.kubernetes.io/`.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a key is unknown or missing, or a value wrong
    public static VolumeContext fromMap(VolumeId id, Map<String, String> map) {
        try {
            return read(id, map);
        } catch (DriverException.InvalidRequest e) {
            throw new DriverException.InvalidRequest("volume_context: " + e.getMessage());
        }
    }

    private static VolumeContext read(VolumeId id, Map<String, String> map) {
        for (String key : map.keySet()) {
            if (!KNOWN.contains(key) && !isOfKubernetes(key)) {
                throw new DriverException.InvalidRequest("key " + QuotedText.of(key) + " is not known");
            }
        }
        List<String> monitors = Monitors.split(map.getOrDefault(MONITORS, ""));
        if (monitors.isEmpty()) {
            throw new DriverException.InvalidRequest("lacks " + MONITORS + " for volume " + id);
        }
        MounterChoice mounter = MounterChoice.parse(map.getOrDefault(MOUNTER, "auto"));
        List<String> options = Monitors.split(map.getOrDefault(MountOptions.KEY, ""));
        boolean readOnly = map.getOrDefault(READ_ONLY, "false").equals("true");
        Optional<ContainerUser> user =
                Optional.ofNullable(map.get(ContainerUser.KEY)).map(ContainerUser::parse);
        return switch (id) {
            case VolumeId.WithPath fixed ->
                new VolumeContext(
                        monitors,
                        fixed.fileSystem(),
                        fixed.path(),
                        Optional.empty(),
                        mounter,
                        options,
                        readOnly || fixed instanceof VolumeId.DatasetVolume,
                        Optional.empty(),
                        user);
            case VolumeId.Provisioned own -> {
                String dataPath = map.getOrDefault(DATA_PATH, own.subvolume());
                CephPath.checkRelative(dataPath);
                yield new VolumeContext(
                        monitors,
                        own.fileSystem(),
                        map.getOrDefault(MOUNT_PATH, "/volumes/" + own.group()),
                        Optional.of(dataPath),
                        mounter,
                        options,
                        readOnly,
                        Optional.ofNullable(map.get(OWNER)),
                        user);
            }
        };
    }

    /// Checks whether Kubernetes writes this key, not the controller or a person.
    public static boolean isOfKubernetes(String key) {
        return key.startsWith("csi.storage.k8s.io/") || key.startsWith("storage.kubernetes.io/");
    }

    private static final java.util.Set<String> KNOWN = java.util.Set.of(
            MONITORS, FS_NAME, MOUNT_PATH, DATA_PATH, MOUNTER, MountOptions.KEY, READ_ONLY, OWNER, ContainerUser.KEY);
}
