package dev.siphon.csi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What the controller tells the node about a volume, as the `volume_context` of CSI; a PV keeps it for ever, so
/// nothing that may change later (quota, keys) is in it. All keys of that map are in this file.
///
/// @param monitors the cluster's monitors as a `mon_host` line would name them; a node may be told newer ones
/// @param fileSystem the Ceph file system
/// @param mountPath the directory that is mounted: the account's subvolumegroup, so that the client enforces its
///     quota (client/quota: an ancestor's quota counts only if the mount reaches it), or the path of a static
///     volume
/// @param dataPath the subvolume below `mountPath` whose one data directory is bound, without leading `/`; for a
///     snapshot-backed volume that in the snapshot; empty for a static volume
/// @param mounter the mounter that the class asks for
/// @param mountOptions further mount options that the class asks for, already checked against the allow list
/// @param readOnly whether the volume can never be written (backed by a snapshot)
/// @param owner the account, for people; empty for a static volume
/// @param containerUser the user of containers that is to be the account; empty leaves everybody who they are
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

    /// Which client mounts: `auto` takes the kernel's where it has one.
    public enum MounterChoice {
        AUTO,
        KERNEL,
        FUSE;

        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is none of kernel, fuse, auto
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

    /// The same place, mounted as another context of it says: by its mounter, and with its options.
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

    /// The map that travels in `volume_context`.
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

    /// Reads what [#toMap] wrote, or what a person wrote into a static PV (`monitors`, and optionally
    /// `mounter`, `mountOptions` and `containerUser`; file system and path stand in the id). Keys that start with
    /// `csi.storage.k8s.io/` or `storage.kubernetes.io/` come from Kubernetes and are left alone.
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
            case VolumeId.ByHand fixed ->
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

    /// Whether it is Kubernetes that writes this key, and neither the controller nor a person.
    public static boolean isOfKubernetes(String key) {
        return key.startsWith("csi.storage.k8s.io/") || key.startsWith("storage.kubernetes.io/");
    }

    private static final java.util.Set<String> KNOWN = java.util.Set.of(
            MONITORS, FS_NAME, MOUNT_PATH, DATA_PATH, MOUNTER, MountOptions.KEY, READ_ONLY, OWNER, ContainerUser.KEY);
}
