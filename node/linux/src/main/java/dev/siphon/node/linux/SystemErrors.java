package dev.siphon.node.linux;

import dev.siphon.csi.DriverException;

/// The default meaning of an `errno`, for callers that know nothing more specific.
public final class SystemErrors {
    private SystemErrors() {}

    /// Returns the error to report for `failed`.
    ///
    /// @param what the operation and its volume, for the message
    public static DriverException translate(String what, ErrnoException failed) {
        String message = what + " failed: " + failed.getMessage();
        return switch (failed.errno()) {
            case EACCES, EPERM -> new DriverException.AccessDenied(message);
            case ENOENT -> new DriverException.NotFound(message);
            case EBUSY -> new DriverException.InUse(message);
            case EDQUOT, ENOSPC -> new DriverException.QuotaExhausted(message);
            case ESTALE,
                    ENOTCONN,
                    EIO,
                    ESHUTDOWN,
                    EHOSTDOWN,
                    EHOSTUNREACH,
                    ENETUNREACH,
                    ECONNREFUSED,
                    ECONNABORTED,
                    ECONNRESET,
                    ETIMEDOUT,
                    EAGAIN,
                    EINTR,
                    ENOMEM,
                    EMFILE,
                    ENFILE -> new DriverException.BackendUnavailable(message, failed);
            default -> new DriverException.BackendFault(message, failed);
        };
    }
}
