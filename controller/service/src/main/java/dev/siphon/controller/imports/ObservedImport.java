package dev.siphon.controller.imports;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.VolumeId;

/// What is there of a DatasetImport.
///
/// @param name of the object
/// @param phase the one that the object's status says
/// @param on whether administrators have switched imports on
/// @param isShared whether the dataset has the readers that the owner wants now
/// @param keepVolume whether the volume is to stay
public record ObservedImport(
        String name,
        ImportStatus.Phase phase,
        boolean on,
        Standing standing,
        ClaimState claim,
        FetchState fetch,
        SealState seal,
        boolean isShared,
        boolean keepVolume) {
    /// Whether the namespace's account may have what is asked for.
    public sealed interface Standing {
        record Allowed(Account account) implements Standing {}

        record Denied(String reason, String message) implements Standing {}
    }

    /// An object that is created for an import: the claim, the Job or the VolumeSnapshot.
    public sealed interface Part permits ClaimState, FetchState, SealState {
        /// There is none.
        record Absent() implements ClaimState, FetchState, SealState {}

        /// There is one of its name that is not the import's.
        record Foreign() implements ClaimState, FetchState, SealState {}

        /// An earlier import of this name has left it, and it is being deleted.
        record Leaving() implements ClaimState, FetchState, SealState {}

        /// It is being deleted.
        record Ending() implements ClaimState, FetchState, SealState {}

        /// Whether it is the import's, and is not being deleted.
        default boolean isOurs() {
            return switch (this) {
                case Absent _, Foreign _, Leaving _, Ending _ -> false;
                case ClaimState _, FetchState _, SealState _ -> true;
            };
        }
    }

    /// The claim that reserves the room.
    public sealed interface ClaimState extends Part {
        /// @param message why it has no volume yet
        record Waiting(String message) implements ClaimState {}

        /// The account's allowance has no room for it.
        record NoRoom(String message) implements ClaimState {}

        /// @param path of the volume's root directory in its file system
        record Bound(VolumeId.Provisioned volume, String path) implements ClaimState {}
    }

    /// The Job that fills the volume.
    public sealed interface FetchState extends Part {
        /// @param message what it does or waits for
        record Running(String message) implements FetchState {}

        record Done() implements FetchState {}

        record Failed(String reason, String message) implements FetchState {}
    }

    /// The VolumeSnapshot that becomes a dataset.
    public sealed interface SealState extends Part {
        /// @param message how far it is
        record Packing(String message) implements SealState {}

        record Refused(String reason, String message) implements SealState {}

        record Sealed() implements SealState {}

        /// Its image is made, and there is no Dataset of its name: none yet, or somebody deleted it.
        record Undeclared() implements SealState {}

        /// Its image is made, and the Dataset of its name shows another one.
        record Replaced() implements SealState {}
    }
}
