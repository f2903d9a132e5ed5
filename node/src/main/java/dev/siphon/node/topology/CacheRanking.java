package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Which cache directory is the best for a pod with certain devices.
///
/// @param directories the nearest to all devices together first; as they were given where that is the same
/// @param devices the pod's
public record CacheRanking(List<Ranked> directories, List<DevicePlace> devices) {
    public CacheRanking {
        directories = List.copyOf(directories);
        devices = List.copyOf(devices);
    }

    /// A directory.
    ///
    /// @param weight the weights of its distances to all devices, added up: less is nearer
    /// @param distance the farthest of these
    public record Ranked(Path directory, int weight, Distance distance) {}

    /// Ranks `directories`; they stay as they were given without devices.
    public static CacheRanking of(Collection<CacheDevices> directories, Collection<? extends DevicePlace> devices) {
        return new CacheRanking(
                directories.stream()
                        .map(directory -> ranked(directory, devices))
                        .sorted(Comparator.comparingInt(Ranked::weight))
                        .toList(),
                List.copyOf(devices));
    }

    private static Ranked ranked(CacheDevices directory, Collection<? extends DevicePlace> devices) {
        return new Ranked(
                directory.directory(),
                devices.stream()
                        .mapToInt(device -> directory.from(device).weight())
                        .sum(),
                devices.stream().map(directory::from).reduce(Distance::or).orElse(Distance.UNKNOWN));
    }

    /// The directories of which none is nearer than another; none if these are all, as then it does not matter.
    public List<Path> nearest() {
        List<Path> nearest = directories.stream()
                .filter(each -> each.weight() == directories.getFirst().weight())
                .map(Ranked::directory)
                .toList();
        return nearest.size() == directories.size() ? List.of() : nearest;
    }

    /// Whether some are nearer than others.
    public boolean prefers() {
        return !nearest().isEmpty();
    }

    /// How far a directory is; empty if it is none of these.
    public Optional<Distance> distance(Path directory) {
        return directories.stream()
                .filter(each -> each.directory().equals(directory))
                .map(Ranked::distance)
                .findFirst();
    }
}
