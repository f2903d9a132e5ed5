package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

/// Translates errors at the place where the image is made.
final class StoreErrors {
    /// The C library's text for ENOSPC, and below for EDQUOT; the JDK reports only the text, not the number.
    private static final String NO_SPACE = "No space left on device";

    private static final String NO_QUOTA = "Disk quota exceeded";

    private StoreErrors() {}

    static DriverException translate(String what, Path path, IOException failed) {
        String message = what + " " + QuotedText.of(path.toString()) + " failed: " + failed;
        String reason = Objects.requireNonNullElse(failed.getMessage(), "");
        if (reason.contains(NO_SPACE) || reason.contains(NO_QUOTA)) {
            return new DriverException.QuotaExhausted(
                    message + ": make room and pack again; it resumes where it stopped");
        }
        return switch (failed) {
            case AccessDeniedException _ -> new DriverException.AccessDenied(message);
            case NoSuchFileException _ -> new DriverException.NotFound(message);
            default -> new DriverException.BackendUnavailable(message, failed);
        };
    }
}
