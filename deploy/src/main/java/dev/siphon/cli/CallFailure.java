package dev.siphon.cli;

/// A failed call. The message is for the user and begins with the status code.
final class CallFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CallFailure(String message) {
        super(message);
    }
}
