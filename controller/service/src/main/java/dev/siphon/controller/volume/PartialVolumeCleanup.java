package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Finds and cleans up what earlier tries to create a volume left.
final class PartialVolumeCleanup {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final VolumePopulator populator;

    PartialVolumeCleanup(CephPorts ports, VolumePopulator populator) {
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.populator = populator;
    }

    /// Returns what an earlier try left, and removes the pieces of a broken one; empty if there is nothing to keep.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the state is unknown; after a final code, nobody
    ///     would clean up
    /// @throws DriverException.BackendFault (INTERNAL) if a person must repair it
    Optional<Subvolume> of(VolumeId.Provisioned id) {
        Optional<Subvolume> found = find(id);
        return switch (found.map(Subvolume::state).orElse(Subvolume.State.RETAINED)) {
            case READY, CLONING -> found;
            case RETAINED -> Optional.empty();
            case BROKEN -> {
                refuseToLoseFiles(id);
                populator.remove(id);
                yield Optional.empty();
            }
            case CLONE_ENDED_BADLY -> {
                populator.remove(id);
                yield Optional.empty();
            }
        };
    }

    private Optional<Subvolume> find(VolumeId.Provisioned id) {
        try {
            return subvolumes.find(id);
        } catch (DriverException unknown) {
            throw Refusal.isFinal(unknown)
                    ? Refusal.again("it is unknown whether volume " + id + " exists", unknown)
                    : unknown;
        }
    }

    /// A half-made subvolume holds at most the mgr's own `.meta`. One with more files was in use, and broke later.
    private void refuseToLoseFiles(VolumeId.Provisioned id) {
        String path = SubvolumeGroup.pathOf(id);
        long count = files.fileCount(id.cluster(), id.fileSystem(), path);
        if (count > 1) {
            throw new DriverException.BackendFault("the mgr's metadata of subvolume " + path + " is broken, and "
                    + count + " files are below it: nothing was changed; repair " + path + "/.meta by hand");
        }
    }

    /// Returns a subvolume that was just created.
    Subvolume mustFind(VolumeId.Provisioned id) {
        return subvolumes
                .find(id)
                .filter(found -> found.state() == Subvolume.State.READY)
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        "volume " + id + " was created but is missing now; retry"));
    }
}
