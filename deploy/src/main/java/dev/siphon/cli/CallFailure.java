package dev.siphon.cli;

/// A call that did not succeed; the message, which begins with the status code, is for the person who made it.
final class CallFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CallFailure(String message) {
        super(message);
    }
}
