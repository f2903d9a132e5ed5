package dev.siphon.csi.server;

/// The process cannot start with its configuration: a socket is in use, or an address cannot be bound. The message
/// is for the person who starts it; the launcher prints it without a stack and exits 1.
public final class StartFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message);
    }

    public StartFailure(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
