package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.GroupUsage;
import java.util.OptionalLong;

/// How much a class still has to give (CSI v1.13, GetCapacity).
public final class Capacities {
    private final Subvolumes subvolumes;
    private final Placement placement;

    public Capacities(CephPorts ports, Volumes volumes) {
        this.subvolumes = ports.subvolumes();
        this.placement = volumes.placement();
    }

    /// Bytes that volumes of this class can still hold: what the data pool has, and of a class with a fixed
    /// owner at most what is left of that account's quota.
    public long available(VolumeClass parameters) {
        if (parameters.owner().isPresent()) {
            Placement.Place place = placement.choose(parameters);
            long pool = subvolumes.availableBytes(
                    place.group().cluster(), place.group().fileSystem(), parameters.dataPool());
            OptionalLong left = left(place);
            return left.isPresent() ? Math.min(pool, left.getAsLong()) : pool;
        }
        String cluster = placement.cluster(parameters);
        String fileSystem =
                placement.fileSystem(cluster, parameters.fileSystem()).name();
        return subvolumes.availableBytes(cluster, fileSystem, parameters.dataPool());
    }

    private OptionalLong left(Placement.Place place) {
        GroupUsage usage = subvolumes
                .groupUsage(place.group())
                .orElse(new GroupUsage(place.owner().allowanceBytes(), 0));
        return usage.quotaBytes().isPresent()
                ? OptionalLong.of(Math.max(0, usage.quotaBytes().getAsLong() - usage.usedBytes()))
                : OptionalLong.empty();
    }
}
