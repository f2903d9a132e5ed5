package dev.siphon.csi;

import java.util.Objects;

/// Every error that Siphon reports on purpose; [StatusMapping] turns each into one gRPC status. Anything else
/// that reaches the server's interceptor is a bug and becomes INTERNAL.
///
/// A message says what was wrong, which object it concerns, and what to do; it never holds a secret.
public abstract sealed class DriverException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private DriverException(String message) {
        super(message);
    }

    private DriverException(String message, Throwable cause) {
        super(message, cause);
    }

    /// There always is one.
    @Override
    public final String getMessage() {
        return Objects.requireNonNull(super.getMessage());
    }

    /// A field of the request is missing or wrong: INVALID_ARGUMENT. The message names the field.
    public static final class InvalidRequest extends DriverException {
        private static final long serialVersionUID = 1L;

        public InvalidRequest(String message) {
            super(message);
        }
    }

    /// The named object does not exist: NOT_FOUND.
    public static final class NotFound extends DriverException {
        private static final long serialVersionUID = 1L;

        public NotFound(String message) {
            super(message);
        }
    }

    /// An object of that name exists and does not fit the request: ALREADY_EXISTS.
    public static final class IncompatibleExisting extends DriverException {
        private static final long serialVersionUID = 1L;

        public IncompatibleExisting(String message) {
            super(message);
        }
    }

    /// An operation on the same object is under way, or this one needs more time: ABORTED; the caller retries.
    /// Also the code CSI wants for a list token that is not valid.
    public static final class OperationPending extends DriverException {
        private static final long serialVersionUID = 1L;

        public OperationPending(String message) {
            super(message);
        }
    }

    /// The object's state forbids the operation: FAILED_PRECONDITION.
    public static final class InUse extends DriverException {
        private static final long serialVersionUID = 1L;

        public InUse(String message) {
            super(message);
        }
    }

    /// A size or range that cannot be met: OUT_OF_RANGE.
    public static final class CapacityOutOfRange extends DriverException {
        private static final long serialVersionUID = 1L;

        public CapacityOutOfRange(String message) {
            super(message);
        }
    }

    /// An allowance, a snapshot limit or a pool is used up: RESOURCE_EXHAUSTED.
    public static final class QuotaExhausted extends DriverException {
        private static final long serialVersionUID = 1L;

        public QuotaExhausted(String message) {
            super(message);
        }
    }

    /// The caller, or the key it brought, may not do this: PERMISSION_DENIED.
    public static final class AccessDenied extends DriverException {
        private static final long serialVersionUID = 1L;

        public AccessDenied(String message) {
            super(message);
        }
    }

    /// Ceph or a directory does not answer, or refused for now: UNAVAILABLE; the caller retries.
    public static final class BackendUnavailable extends DriverException {
        private static final long serialVersionUID = 1L;

        public BackendUnavailable(String message) {
            super(message);
        }

        public BackendUnavailable(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /// The deadline passed before the outcome was known: DEADLINE_EXCEEDED; the caller retries.
    public static final class DeadlinePassed extends DriverException {
        private static final long serialVersionUID = 1L;

        public DeadlinePassed(String message) {
            super(message);
        }
    }

    /// This driver, cluster or kernel cannot do what was asked: UNIMPLEMENTED.
    public static final class Unsupported extends DriverException {
        private static final long serialVersionUID = 1L;

        public Unsupported(String message) {
            super(message);
        }
    }

    /// The backend answered something that it should not, which a person has to look at: INTERNAL.
    public static final class BackendFault extends DriverException {
        private static final long serialVersionUID = 1L;

        public BackendFault(String message) {
            super(message);
        }

        public BackendFault(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
