package dev.siphon.csi;

import java.util.Objects;

/// An error that Siphon reports on purpose; [StatusMapping] maps it to a gRPC status. Any other exception that
/// reaches the server's interceptor is a bug and becomes INTERNAL.
///
/// A message states what was wrong, which object it concerns, and what to do. It never holds a secret.
public abstract sealed class DriverException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private DriverException(String message) {
        super(message);
    }

    private DriverException(String message, Throwable cause) {
        super(message, cause);
    }

    /// Returns the message, which is never null.
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

    /// An object with this name exists and does not fit the request: ALREADY_EXISTS.
    public static final class IncompatibleExisting extends DriverException {
        private static final long serialVersionUID = 1L;

        public IncompatibleExisting(String message) {
            super(message);
        }
    }

    /// An operation on the same object is running, or this one needs more time: ABORTED; the caller retries. CSI
    /// also requires this code for an invalid list token.
    public static final class OperationPending extends DriverException {
        private static final long serialVersionUID = 1L;

        public OperationPending(String message) {
            super(message);
        }
    }

    /// The object's state forbids the operation: it is in use, its account is frozen, or a step that has to come
    /// first is missing: FAILED_PRECONDITION.
    public static final class InUse extends DriverException {
        private static final long serialVersionUID = 1L;

        public InUse(String message) {
            super(message);
        }
    }

    /// The size or range cannot be met: OUT_OF_RANGE.
    public static final class CapacityOutOfRange extends DriverException {
        private static final long serialVersionUID = 1L;

        public CapacityOutOfRange(String message) {
            super(message);
        }
    }

    /// An allowance, a snapshot limit or a pool is exhausted: RESOURCE_EXHAUSTED.
    public static final class QuotaExhausted extends DriverException {
        private static final long serialVersionUID = 1L;

        public QuotaExhausted(String message) {
            super(message);
        }
    }

    /// The caller or its key lacks the permission: PERMISSION_DENIED.
    public static final class AccessDenied extends DriverException {
        private static final long serialVersionUID = 1L;

        public AccessDenied(String message) {
            super(message);
        }
    }

    /// Ceph or a directory does not answer, or refuses for now: UNAVAILABLE; the caller retries.
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

    /// This driver, cluster or kernel does not support the request: UNIMPLEMENTED.
    public static final class Unsupported extends DriverException {
        private static final long serialVersionUID = 1L;

        public Unsupported(String message) {
            super(message);
        }
    }

    /// The backend gave an unexpected reply that a person must investigate: INTERNAL.
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
