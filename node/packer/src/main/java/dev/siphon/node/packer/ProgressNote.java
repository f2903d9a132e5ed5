package dev.siphon.node.packer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Optional;

/// A fetch's progress as attribute `user.siphon.fetched` of the directory that is filled. The controller reads it from
/// Ceph, so that it needs no right to read pods' logs, and a fetcher no right to write anything in Kubernetes.
final class ProgressNote {
    private static final String NAME = "siphon.fetched";

    private final Path directory;
    private boolean isUnsupported;

    ProgressNote(Path directory) {
        this.directory = directory;
    }

    /// Writes four numbers with a space between each two. A file system without such attributes gets none.
    ///
    /// @param totalBytes -1 if unknown
    /// @param secondsLeft -1 if unknown
    void write(long bytes, long totalBytes, long bytesPerSecond, long secondsLeft) {
        if (isUnsupported) {
            return;
        }
        String text = bytes + " " + totalBytes + " " + bytesPerSecond + " " + secondsLeft;
        try {
            Optional<UserDefinedFileAttributeView> attributes =
                    Optional.ofNullable(Files.getFileAttributeView(directory, UserDefinedFileAttributeView.class));
            if (attributes.isPresent()) {
                int _ = attributes.get().write(NAME, ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
            }
        } catch (IOException _) {
            // the progress is on stdout, too
            isUnsupported = true;
        }
    }
}
