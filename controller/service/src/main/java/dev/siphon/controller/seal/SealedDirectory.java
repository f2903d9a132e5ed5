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

/// The directory of an image, with the notes on it. The packer's key can write these notes. They are trusted only
/// once the packer has ended and [#settle] has rewritten them.
record SealedDirectory(FileTree files, DatasetPlace place) {
    /// Returns the name that the dataset has, or will have; empty if sealing has not begun.
    Optional<String> dataset() {
        return place.note(files, DatasetPlace.NAME).filter(Dataset::isName);
    }

    /// Returns the VolumeSnapshot that requested the dataset.
    Optional<SnapshotRequest> asked() {
        return place.note(files, DatasetPlace.ASKED).flatMap(SnapshotRequest::parse);
    }

    /// Creates the directory, in a RADOS namespace of its own. Before that it notes elsewhere that the image is not
    /// sealed.
    ///
    /// @param dataset the name that the dataset will have
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the file system has no directory for datasets, or the
    ///     controller may not create one in it
    void make(String dataset, SnapshotRequest asked) {
        place.begin(files);
        try {
            files.makeDirectory(place.cluster(), place.fileSystem(), place.path(), "dataset-" + place.name());
        } catch (DriverException.NotFound missing) {
            throw new DriverException.InUse("file system " + place.fileSystem() + " of cluster " + place.cluster()
                    + " has no directory " + Dataset.DIRECTORY + ": make it from a mount of the root");
        } catch (DriverException.AccessDenied refused) {
            throw new DriverException.InUse(
                    "the controller's identity may not make a directory below " + Dataset.DIRECTORY
                            + " in file system " + place.fileSystem() + " of cluster " + place.cluster()
                            + ": `siphon ceph-caps --change` prints what it needs");
        }
        note(DatasetPlace.ASKED, asked.toString());
        note(DatasetPlace.NAME, dataset);
    }

    /// Returns the image; empty until it is complete.
    Optional<SealedImage> image() {
        return sealed().filter(_ -> !place.isBegun(files)).or(this::manifest);
    }

    /// Returns the image by the note on the directory. Its packer can write that note too.
    Optional<SealedImage> sealed() {
        return place.note(files, DatasetPlace.SEALED).flatMap(SealedImage::parse);
    }

    private Optional<SealedImage> manifest() {
        String file = place.path() + "/" + Dataset.MANIFEST;
        return files.digest(place.cluster(), place.fileSystem(), file)
                .map(read -> new SealedImage(read.sha256(), Manifest.imageBytes(read.beginning())));
    }

    /// Rewrites what the packer's key may have changed, now that nobody can use that key any more.
    void settle(String dataset, SnapshotRequest asked) {
        note(DatasetPlace.NAME, dataset);
        note(DatasetPlace.ASKED, asked.toString());
        note(DatasetPlace.SEALED, "");
        SubvolumeGroup group = SubvolumeGroup.of(place.snapshot().volume());
        files.note(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE)
                .ifPresent(since -> note(AccountFreeze.NOTE, since));
    }

    /// Notes that sealing is complete.
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
