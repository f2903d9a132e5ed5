package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// What earlier tries to make a volume have left.
final class PartialVolumeCleanup {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final VolumePopulator populator;

    PartialVolumeCleanup(CephPorts ports, VolumePopulator populator) {
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.populator = populator;
    }

    /// What an earlier try left, pieces of a broken one removed; empty if there is nothing to keep.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that is not known: with a final code it might
    ///     be left
    /// @throws DriverException.BackendFault (INTERNAL) if a person has to repair it
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
                    ? Refusal.again("whether volume " + id + " exists is not known", unknown)
                    : unknown;
        }
    }

    /// A subvolume that was only half made holds at most the mgr's own `.meta`; one with more was in use, and
    /// broke later.
    private void refuseToLoseFiles(VolumeId.Provisioned id) {
        String path = SubvolumeGroup.of(id).path() + "/" + id.subvolume();
        long count = files.fileCount(id.cluster(), id.fileSystem(), path);
        if (count > 1) {
            throw new DriverException.BackendFault("the mgr's metadata of subvolume " + path + " is broken, and "
                    + count + " files are below it: nothing was changed; repair " + path + "/.meta by hand");
        }
    }

    /// What was made just now.
    Subvolume mustFind(VolumeId.Provisioned id) {
        return subvolumes
                .find(id)
                .filter(found -> found.state() == Subvolume.State.READY)
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        "volume " + id + " was made and is not there now; retry"));
    }
}
