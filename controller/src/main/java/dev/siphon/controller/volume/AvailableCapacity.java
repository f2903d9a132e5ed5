package dev.siphon.controller.volume;

import java.util.OptionalLong;

/// How much a class still has to give (CSI v1.13, GetCapacity).
public final class AvailableCapacity {
    private final Subvolumes subvolumes;
    private final VolumePlacement placement;
    private final AllowanceLedger ledger;

    public AvailableCapacity(CephPorts ports, Volumes volumes) {
        this.subvolumes = ports.subvolumes();
        this.placement = volumes.placement();
        this.ledger = volumes.ledger();
    }

    /// Bytes that volumes of this class can still hold: what the data pool has, and of a class with a fixed
    /// owner at most what that account may still commit.
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
