package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Port: declared datasets, as volumes of claims.
public interface ClaimedDatasets {
    /// No datasets: none can be declared.
    ClaimedDatasets NONE = new ClaimedDatasets() {
        @Override
        public Optional<String> wanted(VolumeRequest request) {
            if (request.parameters().dataset().isPresent()) {
                throw unknown();
            }
            return Optional.empty();
        }

        @Override
        public Volume show(VolumeRequest request, String dataset) {
            throw unknown();
        }

        @Override
        public void remove(VolumeId.DatasetVolume volume) {
            throw new DriverException.InUse("volume " + volume + " shows a dataset, but the controller has no datasets:"
                    + " run it with its earlier flags");
        }

        private static DriverException unknown() {
            return new DriverException.InvalidRequest("parameter dataset: the controller knows no datasets; run it with"
                    + " --datasets-file or --kubernetes-namespace");
        }
    };

    /// Returns the dataset that a request names, in the class or at the claim (1 round trip to the API
    /// server, only for read-only requests). Empty if it names none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the claim does not exist
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if class and claim name different
    ///     datasets, or the controller knows no datasets
    Optional<String> wanted(VolumeRequest request);

    /// Creates the volume that shows a dataset to the claim of a request (CSI v1.13, CreateVolume).
    /// Idempotent.
    ///
    /// @param dataset its name
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such dataset
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the claim's namespace may not read it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the request does not fit a dataset
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if the dataset is larger than the
    ///     requested limit
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the dataset's declaration is invalid, or
    ///     the account that reads or sealed it is frozen
    /// @throws DriverException.OperationPending (ABORTED) if the dataset's key is being removed
    Volume show(VolumeRequest request, String dataset);

    /// Deletes the volume of a claim; the dataset stays. Succeeds if the volume does not exist (CSI
    /// v1.13, DeleteVolume).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the controller knows no datasets
    void remove(VolumeId.DatasetVolume volume);
}
