package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.Optional;

/// Where the image of a snapshot lies that a class with `kind: dataset` made, and under which names: all of that is a
/// function of the snapshot's id, so that whoever knows the snapshot finds the image.
///
/// @param snapshot one for which [#isOf] holds
public record DatasetPlace(SnapshotId snapshot) {
    /// The note on its directory that says what the dataset is called; there from the beginning on.
    public static final String NAME = "dataset";

    /// The note that says which VolumeSnapshot asked for it, whose people are told.
    public static final String ASKED = "asked";

    /// The note that says what the image is; there once nothing is left to be done.
    public static final String SEALED = "sealed";

    /// Whether a snapshot is, or is to be, a sealed dataset.
    public static boolean isOf(SnapshotId snapshot) {
        return Names.isSealedSnapshot(snapshot.name());
    }

    /// The same as [#isOf] tells, with its place.
    public static Optional<DatasetPlace> of(SnapshotId snapshot) {
        return isOf(snapshot) ? Optional.of(new DatasetPlace(snapshot)) : Optional.empty();
    }

    /// A short name, which no other snapshot's has.
    public String name() {
        return Names.sealed(snapshot);
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
        Group group = Group.of(snapshot.volume());
        return group.volume(Names.shallow(group, sourceName(), snapshot));
    }

    /// Whether all of it is there.
    static boolean isSealed(FileTree files, SnapshotId snapshot) {
        return of(snapshot).flatMap(place -> place.note(files, SEALED)).isPresent();
    }

    /// A note on the directory; empty if there is none.
    public Optional<String> note(FileTree files, String name) {
        return files.note(cluster(), fileSystem(), path(), name);
    }

    /// What reads the image back is called so, and what it needs begins so.
    public String checker() {
        return packer() + "-check";
    }

    /// What the packer is called, and what begins the names of what it needs.
    public String packer() {
        return "siphon-pack-" + name();
    }
}
