package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.List;

/// A cache directory and the disks that its files are on.
///
/// @param devices several for RAID and for volumes that span disks; none where the file system has no disk of
///     this machine (tmpfs, overlay, network), or where it is not known
public record CacheDevices(Path directory, List<StorageDevice> devices) {
    public CacheDevices {
        devices = List.copyOf(devices);
    }

    /// Finds them. It asks the mount table and sysfs; of the directory itself only where its links lead, which
    /// may hang with a file system that hangs.
    ///
    /// @param directory absolute; need not exist yet
    public static CacheDevices find(MachineRoots roots, Path directory) {
        return new CacheDevices(directory, new DiskTrace(roots).of(directory));
    }

    /// How far `place` is: as far as the farthest of the disks.
    public Distance from(DevicePlace place) {
        return devices.stream()
                .map(device -> device.path().map(place::from).orElse(Distance.UNKNOWN))
                .reduce(Distance::or)
                .orElse(Distance.UNKNOWN);
    }
}
