package dev.siphon.node.topology;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/// Which cache directory is the best for a pod with certain GPUs.
public final class Ranking {
    private Ranking() {}

    /// `directories`, the nearest to all of `gpus` together first; as they were given where that is the same, so
    /// unchanged without GPUs.
    public static List<CacheDevices> order(Collection<CacheDevices> directories, Collection<Gpu> gpus) {
        return order(directories, gpus, (_, _) -> 0);
    }

    /// The same, but `then` decides among those that are equally near, for instance by load.
    public static List<CacheDevices> order(
            Collection<CacheDevices> directories, Collection<Gpu> gpus, Comparator<CacheDevices> then) {
        return directories.stream()
                .sorted(Comparator.comparingInt((CacheDevices each) -> sum(each, gpus))
                        .thenComparing(then))
                .toList();
    }

    /// The weights of the distances from `directory` to each of `gpus`, added up: less is nearer.
    public static int sum(CacheDevices directory, Collection<Gpu> gpus) {
        return gpus.stream().mapToInt(gpu -> directory.from(gpu).weight()).sum();
    }
}
