package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Ranks the cache directories for a pod with certain devices.
///
/// @param directories sorted by the sum of the distances to all devices, the nearest first; equal ones stay in the
///     given order
/// @param devices the pod's devices
public record CacheRanking(List<Ranked> directories, List<DevicePlace> devices) {
    public CacheRanking {
        directories = List.copyOf(directories);
        devices = List.copyOf(devices);
    }

    /// A ranked directory.
    ///
    /// @param weight the sum of the weights of its distances to all devices; less is nearer
    /// @param distance the farthest of these distances
    public record Ranked(Path directory, int weight, Distance distance) {}

    /// Ranks `directories`; without devices, they stay in the given order.
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

    /// Returns the nearest directories; empty if all are equally near, because the choice does not matter then.
    public List<Path> nearest() {
        List<Path> nearest = directories.stream()
                .filter(each -> each.weight() == directories.getFirst().weight())
                .map(Ranked::directory)
                .toList();
        return nearest.size() == directories.size() ? List.of() : nearest;
    }

    /// Returns whether some directories are nearer than others.
    public boolean prefers() {
        return !nearest().isEmpty();
    }

    /// Returns the distance of a directory; empty if it is not ranked.
    public Optional<Distance> distance(Path directory) {
        return directories.stream()
                .filter(each -> each.directory().equals(directory))
                .map(Ranked::distance)
                .findFirst();
    }
}
