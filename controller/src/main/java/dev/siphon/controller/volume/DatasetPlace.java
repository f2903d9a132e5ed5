package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.Optional;

/// Where the image of a snapshot lies that a class with `kind: dataset` made, and under which names: all of that
/// is a function of the snapshot's id, so that whoever knows the snapshot finds the image.
///
/// @param snapshot one for which [#isOf] holds
public record DatasetPlace(SnapshotId snapshot) {
    /// The note on its directory that says what the dataset is called; there from the beginning on.
    public static final String NAME = "dataset";

    /// The note that says which VolumeSnapshot asked for it, whose people are told.
    public static final String ASKED = "asked";

    /// The note that says what the image is; there once nothing is left to be done.
    public static final String SEALED = "sealed";

    /// How the note begins that says that an image is not sealed yet, whatever its own directory says, where its
    /// packer's key writes. It is on the subvolume whose snapshot it is, where no such key does.
    private static final String UNSEALED = "unsealed.";

    /// Whether a snapshot is, or is to be, a sealed dataset.
    public static boolean isOf(SnapshotId snapshot) {
        return CephNames.isSealedSnapshot(snapshot.name());
    }

    /// The same as [#isOf] tells, with its place.
    public static Optional<DatasetPlace> of(SnapshotId snapshot) {
        return isOf(snapshot) ? Optional.of(new DatasetPlace(snapshot)) : Optional.empty();
    }

    /// A short name, which no other snapshot's has.
    public String name() {
        return CephNames.sealed(snapshot);
    }

    public String cluster() {
        return snapshot.volume().cluster();
    }

    public String fileSystem() {
        return snapshot.volume().fileSystem();
    }

    /// The directory of the image, from the root of the file system.
    public String path() {
        return Dataset.DIRECTORY + "/" + name();
    }

    /// What the volume is called by which the packer reads the snapshot.
    public String sourceName() {
        return packer() + "-source";
    }

    /// That volume, whether it exists or not.
    public VolumeId.Provisioned source() {
        SubvolumeGroup group = SubvolumeGroup.of(snapshot.volume());
        return group.volume(CephNames.shallow(group, sourceName(), snapshot));
    }

    /// Whether all of it is there.
    static boolean isSealed(FileTree files, SnapshotId snapshot) {
        return of(snapshot).filter(place -> place.isSealed(files)).isPresent();
    }

    /// The same.
    public boolean isSealed(FileTree files) {
        return note(files, SEALED).isPresent() && !isBegun(files);
    }

    /// Whether it was begun to be sealed, and is not.
    public boolean isBegun(FileTree files) {
        return files.note(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name())
                .isPresent();
    }

    /// Notes that. Repeating it is safe.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if nothing is left of the volume
    public void begin(FileTree files) {
        files.setNote(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name(), "true");
    }

    /// Takes the note away that [#begin] makes. Repeating it is safe, also where nothing is left of the volume.
    public void end(FileTree files) {
        try {
            files.setNote(cluster(), fileSystem(), subvolume(), UNSEALED + snapshot.name(), "");
        } catch (DriverException.NotFound _) {
            // it went with the volume
        }
    }

    private String subvolume() {
        return SubvolumeGroup.of(snapshot.volume()).path() + "/"
                + snapshot.volume().subvolume();
    }

    /// A note on the directory; empty if there is none.
    public Optional<String> note(FileTree files, String name) {
        return files.note(cluster(), fileSystem(), path(), name);
    }

    /// The directory of the image.
    public VolumeId.Static target() {
        return new VolumeId.Static(cluster(), fileSystem(), path());
    }

    /// What reads the image back is called so, and what it needs begins so.
    public String checker() {
        return Packer.checkerOf(target());
    }

    /// What the packer is called, and what begins the names of what it needs.
    public String packer() {
        return Packer.of(target());
    }
}
