package dev.siphon.controller.imports;

import java.util.Set;

/// A dataset that the people of a namespace want to be fetched. Tenants write it: every part is bounded and checked
/// before it gets here.
///
/// @param uid of the object; what is created for it names this uid as its owner
/// @param generation of the `spec`
/// @param sizeBytes how much room is reserved for the volume
/// @param groups whose members may read the dataset, without the prefix `group:`
/// @param keepVolume whether the volume stays once the dataset is ready
/// @param status the object's current status
public record DatasetImport(
        String namespace,
        String name,
        String uid,
        long generation,
        ImportSource source,
        long sizeBytes,
        Set<String> groups,
        boolean keepVolume,
        ImportStatus status) {
    public DatasetImport {
        groups = Set.copyOf(groups);
    }

    /// Returns the name of the claim and of the Job that fills it. The VolumeSnapshot, whose name becomes the
    /// dataset's, is called as the import.
    public String fetchName() {
        return name + "-import";
    }

    /// Whether nothing is left to do until somebody changes the object.
    public boolean isSettled() {
        return status.settled() == generation && status.phase().isEnd();
    }

    /// Whether it has failed, and nothing is left of it.
    public boolean isFailedForGood() {
        return isSettled() && status.phase() == ImportStatus.Phase.FAILED;
    }

    @Override
    public String toString() {
        return "DatasetImport " + namespace + "/" + name;
    }
}
