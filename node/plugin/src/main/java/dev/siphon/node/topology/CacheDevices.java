package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.List;

/// A cache directory and its disks.
///
/// @param devices several for RAID and for volumes that span disks; empty if they are unknown or not disks of this
///     machine (tmpfs, overlay, network)
public record CacheDevices(Path directory, List<StorageDevice> devices) {
    public CacheDevices {
        devices = List.copyOf(devices);
    }

    /// Finds the disks in the mount table and sysfs. In the directory itself, it only resolves symbolic links,
    /// which may hang with the file system.
    ///
    /// @param directory absolute; need not exist yet
    public static CacheDevices find(MachineRoots roots, Path directory) {
        return new CacheDevices(directory, new DiskTrace(roots).of(directory));
    }

    /// Returns the distance of `place`: that of the farthest disk.
    public Distance from(DevicePlace place) {
        return devices.stream()
                .map(device -> device.path().map(place::from).orElse(Distance.UNKNOWN))
                .reduce(Distance::or)
                .orElse(Distance.UNKNOWN);
    }
}
