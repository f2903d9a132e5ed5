package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;

/// What a request was refused with, as seen by the sidecar that made it. A code that is final ends its tries: it calls
/// neither Create nor Delete again, so nothing may be left then of what the request made.
///
/// Source: `isFinalError` of external-provisioner and external-snapshotter.
final class Refusal {
    private Refusal() {}

    /// Whether the caller will not ask again. An error that is none of the driver's own is INTERNAL, which is final.
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

    /// Whether a request can never be met by the volume that is there.
    static boolean isMisfit(DriverException refused) {
        return refused instanceof DriverException.IncompatibleExisting
                || refused instanceof DriverException.InvalidRequest
                || refused instanceof DriverException.CapacityOutOfRange;
    }

    /// The same refusal as UNAVAILABLE, so that the caller asks again.
    ///
    /// @param left what is left of the request
    static DriverException.BackendUnavailable again(String left, RuntimeException refused) {
        return new DriverException.BackendUnavailable(left + ": " + refused.getMessage() + "; retry", refused);
    }
}
