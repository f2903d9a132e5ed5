package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Owners.OwnerRule;
import java.util.OptionalLong;

/// Calculates the capacity that a class still offers (CSI v1.13, GetCapacity).
public final class AvailableCapacity {
    private final Subvolumes subvolumes;
    private final VolumePlacement placement;
    private final AllowanceLedger ledger;

    public AvailableCapacity(CephPorts ports, Volumes volumes) {
        this.subvolumes = ports.subvolumes();
        this.placement = volumes.placement();
        this.ledger = volumes.ledger();
    }

    /// Returns the bytes that volumes of this class can still hold: the free space of the data pool. A class with a
    /// fixed owner is also limited to what that account may still commit.
    public long available(VolumeClass parameters) {
        if (parameters.owner().flatMap(OwnerRule::always).isPresent()) {
            VolumePlacement.OwnedGroup place = placement.choose(parameters);
            long pool = subvolumes.availableBytes(
                    place.group().cluster(), place.group().fileSystem(), parameters.dataPool());
            OptionalLong left = left(place, parameters);
            return left.isPresent() ? Math.min(pool, left.getAsLong()) : pool;
        }
        String cluster = placement.cluster(parameters);
        String fileSystem =
                placement.fileSystem(cluster, parameters.fileSystem()).name();
        return subvolumes.availableBytes(cluster, fileSystem, parameters.dataPool());
    }

    private OptionalLong left(VolumePlacement.OwnedGroup place, VolumeClass parameters) {
        OptionalLong personal = place.owner().allowanceBytes();
        return ledger.left(
                place.group(), personal.isPresent() ? personal : parameters.allowanceBytes(), parameters.overcommit());
    }
}
