package dev.siphon.controller.key;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Finds the snapshot for which a volume stands, by the names of all that its account has: one mgr command, and
/// one for each volume of the account.
public record SnapshotSearch(Subvolumes subvolumes) {
    /// The snapshot; empty if it is not found.
    public Optional<SnapshotId> of(VolumeId.Provisioned shallow) {
        SubvolumeGroup group = SubvolumeGroup.of(shallow);
        return subvolumes.list(group).orElse(List.of()).stream()
                .filter(name -> CephNames.kindOf(name).isPresent())
                .map(group::volume)
                .flatMap(volume -> subvolumes.snapshots(volume).stream().map(name -> new SnapshotId(volume, name)))
                .filter(snapshot -> shallow.subvolume().endsWith(CephNames.shallowSuffix(snapshot)))
                .findFirst();
    }
}
