package dev.siphon.controller.seal;

import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Manifest;
import java.util.Optional;

/// The directory of an image, and what is noted on it. Its packer's key can write these notes: they count for
/// nothing until the packer has ended and [#settle] has written them anew.
record SealedDirectory(FileTree files, DatasetPlace place) {
    /// What the dataset is, or will be, called; empty if nothing was begun.
    Optional<String> dataset() {
        return place.note(files, DatasetPlace.NAME).filter(Dataset::isName);
    }

    /// Which VolumeSnapshot asked for it.
    Optional<SnapshotRequest> asked() {
        return place.note(files, DatasetPlace.ASKED).flatMap(SnapshotRequest::parse);
    }

    /// Makes it, in a RADOS namespace of its own, after a note elsewhere that it is not sealed.
    ///
    /// @param dataset what the dataset will be called
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if there is no place for datasets
    void make(String dataset, SnapshotRequest asked) {
        place.begin(files);
        try {
            files.makeDirectory(place.cluster(), place.fileSystem(), place.path(), "dataset-" + place.name());
        } catch (DriverException.NotFound missing) {
            throw new DriverException.InUse("file system " + place.fileSystem() + " of cluster " + place.cluster()
                    + " has no directory " + Dataset.DIRECTORY + ": whoever mounts its root may make it");
        } catch (DriverException.AccessDenied refused) {
            throw new DriverException.InUse("the controller's identity may make no directory below " + Dataset.DIRECTORY
                    + " in file system " + place.fileSystem() + " of cluster " + place.cluster()
                    + ": `siphon ceph-caps --change` prints what it needs");
        }
        note(DatasetPlace.ASKED, asked.toString());
        note(DatasetPlace.NAME, dataset);
    }

    /// What was made; empty until it is whole.
    Optional<SealedImage> image() {
        return sealed().filter(_ -> !place.isBegun(files)).or(this::manifest);
    }

    /// What is noted of an image that is sealed, or that its packer has noted itself.
    Optional<SealedImage> sealed() {
        return place.note(files, DatasetPlace.SEALED).flatMap(SealedImage::parse);
    }

    private Optional<SealedImage> manifest() {
        String file = place.path() + "/" + Dataset.MANIFEST;
        return files.digest(place.cluster(), place.fileSystem(), file)
                .map(read -> new SealedImage(read.sha256(), Manifest.imageBytes(read.beginning())));
    }

    /// Writes anew what somebody with its packer's key may have changed, now that nobody can any more.
    void settle(String dataset, SnapshotRequest asked) {
        note(DatasetPlace.NAME, dataset);
        note(DatasetPlace.ASKED, asked.toString());
        note(DatasetPlace.SEALED, "");
        SubvolumeGroup group = SubvolumeGroup.of(place.snapshot().volume());
        files.note(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE)
                .ifPresent(since -> note(AccountFreeze.NOTE, since));
    }

    /// Writes down that nothing is left to be done.
    void seal(SealedImage image) {
        note(DatasetPlace.SEALED, image.text());
        place.end(files);
    }

    private void note(String name, String value) {
        files.setNote(place.cluster(), place.fileSystem(), place.path(), name, value);
    }

    void remove() {
        files.removeDirectory(place.cluster(), place.fileSystem(), place.path());
    }
}
