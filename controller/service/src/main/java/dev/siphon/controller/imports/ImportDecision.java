package dev.siphon.controller.imports;

import dev.siphon.controller.imports.ImportStatus.Phase;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.Part;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.controller.imports.ObservedImport.Standing;
import java.util.Optional;
import java.util.stream.Stream;

/// Decides the next step of a DatasetImport.
final class ImportDecision {
    static final String NAME_TAKEN = "NameTaken";
    static final String DATASET_DELETED = "DatasetDeleted";

    /// The reason of an import of which only the volume is left, so that it cannot be ready again.
    static final String VOLUME_KEPT = "VolumeKept";

    private ImportDecision() {}

    static ImportStep decide(ObservedImport is) {
        return switch (is.phase()) {
            case RESERVING, FETCHING, SEALING -> advance(is);
            case READY -> keep(is);
            case FAILED -> remove(is);
        };
    }

    private static ImportStep advance(ObservedImport is) {
        if (!is.on()) {
            return new ImportStep.Report(
                    is.phase(),
                    "NotEnabled",
                    "imports are off in this cluster: its administrator can set `imports.enabled` of Siphon's chart");
        }
        if (parts(is).anyMatch(Part.Foreign.class::isInstance)) {
            return new ImportStep.Fail(NAME_TAKEN, taken(is));
        }
        if (parts(is).anyMatch(Part.Leaving.class::isInstance)) {
            return new ImportStep.Report(
                    is.phase(),
                    "Waiting",
                    "what an earlier import of this name has left is being deleted; a dataset waits for its pods");
        }
        return switch (is.standing()) {
            case Standing.Denied(var reason, var message) -> new ImportStep.Fail(reason, message);
            case Standing.Allowed allowed -> seal(is, allowed);
        };
    }

    private static String taken(ObservedImport is) {
        String what = is.claim() instanceof Part.Foreign
                ? "PersistentVolumeClaim " + is.name() + "-import"
                : is.fetch() instanceof Part.Foreign ? "Job " + is.name() + "-import" : "VolumeSnapshot " + is.name();
        return what + " is not this import's, and somebody may need it: delete this DatasetImport, and apply it with"
                + " another name";
    }

    private static ImportStep seal(ObservedImport is, Standing.Allowed allowed) {
        return switch (is.seal()) {
            case SealState.Sealed _ ->
                is.isShared() ? new ImportStep.Finish() : new ImportStep.Share(allowed.account());
            case SealState.Packing(var message) -> new ImportStep.Report(Phase.SEALING, "Sealing", message);
            case SealState.Undeclared _ ->
                new ImportStep.Report(Phase.SEALING, "Sealing", "its dataset is being declared");
            case SealState.Replaced _ ->
                new ImportStep.Report(
                        Phase.SEALING,
                        NAME_TAKEN,
                        "there is a Dataset of its name that shows another image: ask an administrator to delete that,"
                                + " or delete this DatasetImport, and apply it with another name");
            case SealState.Refused(var reason, var message) -> new ImportStep.Fail(reason, message);
            case Part.Ending _ -> deleted("VolumeSnapshot");
            case Part.Absent _ -> fetch(is, allowed);
            case Part.Foreign _, Part.Leaving _ -> throw new IllegalStateException("it was refused before");
        };
    }

    private static ImportStep fetch(ObservedImport is, Standing.Allowed allowed) {
        boolean bound = is.claim() instanceof ClaimState.Bound;
        return switch (is.fetch()) {
            case FetchState.Done _ -> bound ? new ImportStep.Seal() : deleted("PersistentVolumeClaim");
            case FetchState.Failed(var reason, var message) -> new ImportStep.Fail(reason, message);
            case Part.Ending _ -> deleted("Job");
            case FetchState.Running(var message) ->
                bound ? new ImportStep.Report(Phase.FETCHING, "Fetching", message) : deleted("PersistentVolumeClaim");
            case Part.Absent _ -> reserve(is, allowed);
            case Part.Foreign _, Part.Leaving _ -> throw new IllegalStateException("it was refused before");
        };
    }

    private static ImportStep reserve(ObservedImport is, Standing.Allowed allowed) {
        return switch (is.claim()) {
            case Part.Absent _ -> new ImportStep.Reserve();
            case ClaimState.Waiting(var message) -> new ImportStep.Report(Phase.RESERVING, "Reserving", message);
            case ClaimState.NoRoom(var message) -> new ImportStep.Fail("AllowanceFull", message);
            case ClaimState.Bound _ -> new ImportStep.Fetch(allowed.account());
            case Part.Ending _ -> deleted("PersistentVolumeClaim");
            case Part.Foreign _, Part.Leaving _ -> throw new IllegalStateException("it was refused before");
        };
    }

    private static ImportStep deleted(String kind) {
        return new ImportStep.Fail(
                "Deleted", "somebody deleted its " + kind + ": delete the DatasetImport, and apply it again");
    }

    /// Keeps the readers as the owner wants them, and removes what the dataset does not need.
    private static ImportStep keep(ObservedImport is) {
        return switch (is.seal()) {
            case SealState.Sealed _ -> unneeded(is).orElseGet(() -> keepReaders(is));
            case SealState.Packing _ -> new ImportStep.Await();
            case SealState.Undeclared _ ->
                unneeded(is)
                        .orElse(new ImportStep.KeepRest(
                                DATASET_DELETED,
                                "the dataset was deleted, and its VolumeSnapshot stays: ask an administrator to"
                                        + " declare the dataset again; or delete the DatasetImport, and apply it"
                                        + " again"));
            case SealState.Replaced _ ->
                unneeded(is)
                        .orElse(new ImportStep.KeepRest(
                                "DatasetReplaced",
                                "somebody declared the dataset again, and it shows another image: the import no longer"
                                        + " gives it readers, and its VolumeSnapshot has the image that was"
                                        + " imported"));
            case SealState.Refused _, Part.Absent _, Part.Foreign _, Part.Leaving _, Part.Ending _ -> lost(is);
        };
    }

    /// Removes what the image does not need.
    private static Optional<ImportStep> unneeded(ObservedImport is) {
        if (is.fetch().isOurs()) {
            return Optional.of(new ImportStep.RemoveFetch());
        }
        return is.claim().isOurs() && !is.keepVolume() ? Optional.of(new ImportStep.RemoveClaim()) : Optional.empty();
    }

    private static ImportStep keepReaders(ObservedImport is) {
        if (is.standing() instanceof Standing.Denied(var reason, var message)) {
            return new ImportStep.Withdraw(reason, message);
        }
        if (is.standing() instanceof Standing.Allowed(var account) && !is.isShared()) {
            return new ImportStep.Share(account);
        }
        return is.fetch() instanceof Part.Ending || is.claim() instanceof Part.Ending
                ? new ImportStep.Await()
                : new ImportStep.Settle();
    }

    /// People may work in a volume that was kept.
    private static ImportStep lost(ObservedImport is) {
        return is.keepVolume() && is.claim().isOurs()
                ? new ImportStep.KeepRest(
                        VOLUME_KEPT,
                        "the dataset was deleted, and its volume stays: copy what you need of it, delete the"
                                + " DatasetImport, and apply it again")
                : new ImportStep.Fail(
                        DATASET_DELETED, "the dataset was deleted: delete the DatasetImport, and apply it again");
    }

    private static ImportStep remove(ObservedImport is) {
        if (is.seal().isOurs()) {
            return new ImportStep.RemoveSnapshot();
        }
        if (is.fetch().isOurs()) {
            return new ImportStep.RemoveFetch();
        }
        if (is.claim().isOurs()) {
            return new ImportStep.RemoveClaim();
        }
        return parts(is).anyMatch(Part.Ending.class::isInstance) ? new ImportStep.Await() : new ImportStep.Settle();
    }

    private static Stream<Part> parts(ObservedImport is) {
        return Stream.of(is.claim(), is.fetch(), is.seal());
    }
}
