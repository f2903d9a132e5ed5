package dev.siphon.csi;

import io.grpc.Status;

/// Maps errors to gRPC statuses and back; no other code does (CSI v1.13, "Error Scheme").
public final class StatusMapping {
    private StatusMapping() {}

    /// Returns the status of `error`, with its message as description.
    public static Status toStatus(DriverException error) {
        Status.Code code = switch (error) {
            case DriverException.InvalidRequest _ -> Status.Code.INVALID_ARGUMENT;
            case DriverException.NotFound _ -> Status.Code.NOT_FOUND;
            case DriverException.IncompatibleExisting _ -> Status.Code.ALREADY_EXISTS;
            case DriverException.OperationPending _ -> Status.Code.ABORTED;
            case DriverException.InUse _ -> Status.Code.FAILED_PRECONDITION;
            case DriverException.CapacityOutOfRange _ -> Status.Code.OUT_OF_RANGE;
            case DriverException.QuotaExhausted _ -> Status.Code.RESOURCE_EXHAUSTED;
            case DriverException.AccessDenied _ -> Status.Code.PERMISSION_DENIED;
            case DriverException.BackendUnavailable _ -> Status.Code.UNAVAILABLE;
            case DriverException.DeadlinePassed _ -> Status.Code.DEADLINE_EXCEEDED;
            case DriverException.Unsupported _ -> Status.Code.UNIMPLEMENTED;
            case DriverException.BackendFault _ -> Status.Code.INTERNAL;
        };
        return code.toStatus().withDescription(error.getMessage());
    }

    /// Returns the error of a failed call to Siphon: the reverse of [#toStatus], and [DriverException.BackendFault]
    /// for other codes.
    public static DriverException fromStatus(Status status) {
        String message = status.getDescription() == null ? "the controller gave no details" : status.getDescription();
        return named(status.getCode().name(), status.getCode() + ": " + message);
    }

    /// Returns the name of the gRPC code of `error`.
    public static String name(DriverException error) {
        return toStatus(error).getCode().name();
    }

    /// Returns the error for the name of a code; [DriverException.BackendFault] for other names.
    public static DriverException named(String code, String words) {
        return switch (code) {
            case "INVALID_ARGUMENT" -> new DriverException.InvalidRequest(words);
            case "NOT_FOUND" -> new DriverException.NotFound(words);
            case "ALREADY_EXISTS" -> new DriverException.IncompatibleExisting(words);
            case "ABORTED" -> new DriverException.OperationPending(words);
            case "FAILED_PRECONDITION" -> new DriverException.InUse(words);
            case "OUT_OF_RANGE" -> new DriverException.CapacityOutOfRange(words);
            case "RESOURCE_EXHAUSTED" -> new DriverException.QuotaExhausted(words);
            case "PERMISSION_DENIED" -> new DriverException.AccessDenied(words);
            case "UNAVAILABLE" -> new DriverException.BackendUnavailable(words);
            case "DEADLINE_EXCEEDED" -> new DriverException.DeadlinePassed(words);
            case "UNIMPLEMENTED" -> new DriverException.Unsupported(words);
            default -> new DriverException.BackendFault(words);
        };
    }
}
