package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.Optional;

/// Where the image of a snapshot from a class with `kind: dataset` lies, and its names. All of them derive from the
/// snapshot's id, so the id is enough to find the image.
///
/// @param snapshot one for which [#isOf] holds
public record DatasetPlace(SnapshotId snapshot) {
    /// Note on the image's directory: the dataset's name; written when the directory is created.
    public static final String NAME = "dataset";

    /// Note on the image's directory: the VolumeSnapshot that requested it, which gets the events.
    public static final String ASKED = "asked";

    /// Note on the image's directory: what the image is; written when sealing is complete.
    public static final String SEALED = "sealed";

    /// Prefix of the note that marks an image as not sealed yet, whatever the image's own directory says: the
    /// packer's key can write there. This note is on the snapshot's subvolume, where no such key can write.
    private static final String UNSEALED = "unsealed.";

    /// Returns whether a snapshot is a sealed dataset, or is to become one.
    public static boolean isOf(SnapshotId snapshot) {
        return CephNames.isSealedSnapshot(snapshot.name());
    }

    /// Returns the place of a snapshot's image; empty unless [#isOf] holds.
    public static Optional<DatasetPlace> of(SnapshotId snapshot) {
        return isOf(snapshot) ? Optional.of(new DatasetPlace(snapshot)) : Optional.empty();
    }

    /// Returns a short name, unique to the snapshot.
    public String name() {
        return CephNames.sealed(snapshot);
    }

    public String cluster() {
        return snapshot.volume().cluster();
    }

    public String fileSystem() {
        return snapshot.volume().fileSystem();
    }

    /// Returns the directory of the image, from the root of the file system.
    public String path() {
        return Dataset.DIRECTORY + "/" + name();
    }

    /// Returns the name of the volume from which the packer reads the snapshot.
    public String sourceName() {
        return packer() + "-source";
    }

    /// Returns the id of that volume, whether it exists or not.
    public VolumeId.Provisioned source() {
        SubvolumeGroup group = SubvolumeGroup.of(snapshot.volume());
        return group.volume(CephNames.shallow(group, sourceName(), snapshot));
    }

    /// Returns whether a snapshot's image is complete and sealed; false for other snapshots.
    static boolean isSealed(FileTree files, SnapshotId snapshot) {
        return of(snapshot).filter(place -> place.isSealed(files)).isPresent();
    }

    /// Returns whether the image is complete and sealed.
    public boolean isSealed(FileTree files) {
        return note(files, SEALED).isPresent() && !isBegun(files);
    }

    /// Returns whether sealing has begun and not ended.
    public boolean isBegun(FileTree files) {
        return files.note(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name())
                .isPresent();
    }

    /// Notes that sealing has begun. Idempotent.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if nothing is left of the volume
    public void begin(FileTree files) {
        files.setNote(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name(), "true");
    }

    /// Removes the note of [#begin]. Idempotent, even if nothing is left of the volume.
    public void end(FileTree files) {
        try {
            files.setNote(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name(), "");
        } catch (DriverException.NotFound _) {
            // removed with the volume
        }
    }

    private String subvolume() {
        return SubvolumeGroup.of(snapshot.volume()).path() + "/"
                + snapshot.volume().subvolume();
    }

    /// Returns a note on the image's directory; empty if there is none.
    public Optional<String> note(FileTree files, String name) {
        return files.note(cluster(), fileSystem(), path(), name);
    }

    /// Returns the directory of the image, as a static volume.
    public VolumeId.Static target() {
        return new VolumeId.Static(cluster(), fileSystem(), path());
    }

    /// Returns the name of the checker, which reads the image back; it begins the names of what the checker needs.
    public String checker() {
        return Packer.checkerOf(target());
    }

    /// Returns the name of the packer; it begins the names of what the packer needs.
    public String packer() {
        return Packer.of(target());
    }
}
