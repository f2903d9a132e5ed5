package dev.siphon.csi.server;

/// The process cannot start as it is configured: a socket in use, an address that cannot be bound. The message is
/// for the person who starts it; the launcher prints it without a stack and exits 1.
public final class StartFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message);
    }

    public StartFailure(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
