package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;

/// Classifies refusals by how the calling sidecar reacts. While the claim exists, it repeats Create after any error.
/// If the claim is deleted after a final code, it calls nothing more for it, so nothing that the request made may be
/// left.
///
/// Source: `isFinalError` of external-provisioner and external-snapshotter.
final class Refusal {
    private Refusal() {}

    /// Returns whether the code is final. An error outside [DriverException] becomes INTERNAL, which is
    /// final.
    static boolean isFinal(RuntimeException refused) {
        if (!(refused instanceof DriverException known)) {
            return true;
        }
        return switch (known) {
            case DriverException.OperationPending _,
                    DriverException.BackendUnavailable _,
                    DriverException.DeadlinePassed _ -> false;
            case DriverException.InvalidRequest _,
                    DriverException.NotFound _,
                    DriverException.IncompatibleExisting _,
                    DriverException.InUse _,
                    DriverException.CapacityOutOfRange _,
                    DriverException.QuotaExhausted _,
                    DriverException.AccessDenied _,
                    DriverException.Unsupported _,
                    DriverException.BackendFault _ -> true;
        };
    }

    /// Returns whether the existing volume can never meet the request.
    static boolean isMisfit(DriverException refused) {
        return refused instanceof DriverException.IncompatibleExisting
                || refused instanceof DriverException.InvalidRequest
                || refused instanceof DriverException.CapacityOutOfRange;
    }

    /// Turns a refusal into UNAVAILABLE, so that the caller retries.
    ///
    /// @param left what the request leaves behind, for the message
    static DriverException.BackendUnavailable again(String left, RuntimeException refused) {
        return new DriverException.BackendUnavailable(left + ": " + refused.getMessage() + "; retry", refused);
    }
}
