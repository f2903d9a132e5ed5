package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;

/// Why data did not come, in terms that the one who wants it understands. The message says what is wrong, which
/// object, and what to do; it never has a secret.
public final class FetchFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// What went wrong.
    public enum Reason {
        WRONG_CHECKSUM("WrongChecksum", false),
        WRONG_KEY("WrongKey", false),
        TOO_LARGE("TooLarge", false),
        TOO_MANY_FILES("TooManyFiles", false),
        UNSAFE_ARCHIVE("UnsafeArchive", false),
        MALFORMED("Malformed", false),
        TOO_SLOW("TooSlow", false),
        FORBIDDEN_ADDRESS("ForbiddenAddress", false),
        NOT_FOUND("NotFound", false),
        SOURCE_UNAVAILABLE("SourceUnavailable", true),
        NO_ROOM("NoRoom", false),
        IO("Io", true);

        private final String text;
        private final boolean retryable;

        Reason(String text, boolean retryable) {
            this.text = text;
            this.retryable = retryable;
        }

        /// Returns the reason's name in statuses.
        public String text() {
            return text;
        }

        /// Whether the same request may succeed later.
        public boolean isRetryable() {
            return retryable;
        }
    }

    private final Reason reason;

    public FetchFailure(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }

    /// Returns the message, which is never null.
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    /// Returns the reason for an error of a source.
    public static FetchFailure of(DriverException error) {
        Reason reason = switch (error) {
            case DriverException.AccessDenied _ -> Reason.WRONG_KEY;
            case DriverException.NotFound _ -> Reason.NOT_FOUND;
            case DriverException.QuotaExhausted _ -> Reason.NO_ROOM;
            case DriverException.InvalidRequest _, DriverException.Unsupported _ -> Reason.MALFORMED;
            case DriverException.CapacityOutOfRange _ -> Reason.TOO_LARGE;
            case DriverException.BackendUnavailable _, DriverException.BackendFault _ -> Reason.SOURCE_UNAVAILABLE;
            case DriverException.IncompatibleExisting _,
                    DriverException.OperationPending _,
                    DriverException.InUse _,
                    DriverException.DeadlinePassed _ -> Reason.IO;
        };
        return new FetchFailure(reason, error.getMessage());
    }

    /// Returns the error for a caller that knows no reasons.
    public DriverException toDriverException() {
        return switch (reason) {
            case WRONG_CHECKSUM -> new DriverException.BackendFault(getMessage());
            case WRONG_KEY, FORBIDDEN_ADDRESS -> new DriverException.AccessDenied(getMessage());
            case TOO_LARGE, TOO_MANY_FILES -> new DriverException.CapacityOutOfRange(getMessage());
            case UNSAFE_ARCHIVE, MALFORMED -> new DriverException.InvalidRequest(getMessage());
            case NOT_FOUND -> new DriverException.NotFound(getMessage());
            case NO_ROOM -> new DriverException.QuotaExhausted(getMessage());
            case TOO_SLOW, SOURCE_UNAVAILABLE, IO -> new DriverException.BackendUnavailable(getMessage());
        };
    }
}
