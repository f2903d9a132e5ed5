package dev.siphon.controller.key;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Finds the snapshot that a volume shows, by comparing the names of all snapshots of its account. Costs one mgr
/// command, plus one per volume of the account.
public record SnapshotSearch(Subvolumes subvolumes) {
    /// Returns the snapshot; empty if it is not found.
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
