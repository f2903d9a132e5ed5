package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.chunk.Bandwidth;
import dev.siphon.node.chunk.ChunkCheck;
import dev.siphon.node.chunk.ChunkWorkers;
import dev.siphon.node.linux.ErrnoException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Reads a whole image past the page cache, and compares it with its manifest. Trusts neither file: each may have
/// any length and type.
///
/// @param manifest the file beside the image
/// @param digest the expected root of the manifest
/// @param lanes the number of chunks read at once
/// @param patience how long to wait for the next chunk
public record ImageCheck(Path image, Path manifest, Digest digest, int lanes, Duration patience) {
    private static final int HEAD_BYTES = 256;
    private static final int LINE_BYTES = 65;
    private static final int CHUNKS_A_STEP = 64;

    /// Receives the progress.
    public interface Listener {
        /// @param done the bytes read so far, out of `all`
        void read(long done, long all);
    }

    /// Returns why the image is rejected; empty if every byte matches the manifest.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be read
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the reads make no progress
    public Optional<String> refusal(Listener listener) {
        try {
            BasicFileAttributes file = attributes(image);
            BasicFileAttributes list = attributes(manifest);
            if (!file.isRegularFile() || !list.isRegularFile()) {
                return Optional.of(image + " or its manifest is not a file");
            }
            if (list.size() > HEAD_BYTES + LINE_BYTES * Math.ceilDiv(file.size(), (long) Manifest.CHUNK_BYTES)) {
                return Optional.of(manifest + " is longer than that of an image of " + file.size() + " bytes");
            }
            Manifest wanted = Manifest.read(manifest);
            if (!wanted.root().equals(digest)) {
                return Optional.of(manifest + " has the digest " + wanted.root() + ", not " + digest);
            }
            if (wanted.imageBytes() != file.size()) {
                return Optional.of(
                        image + " has " + file.size() + " bytes, and its manifest says " + wanted.imageBytes());
            }
            return unlike(wanted, listener);
        } catch (DriverException.InvalidRequest no) {
            return Optional.of(manifest + ": " + no.getMessage());
        } catch (IOException | ErrnoException e) {
            throw new DriverException.BackendUnavailable("cannot read " + image + " and its manifest: " + e, e);
        }
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private Optional<String> unlike(Manifest wanted, Listener listener) {
        ChunkCheck check = new ChunkCheck(image, wanted);
        ChunkWorkers reading = new ChunkWorkers(image.toString(), lanes, patience);
        Bandwidth unlimited = new Bandwidth(OptionalLong.empty());
        int all = wanted.chunks().size();
        for (int from = 0; from < all; from += CHUNKS_A_STEP) {
            int to = Math.min(all, from + CHUNKS_A_STEP);
            BitSet step = new BitSet();
            step.set(from, to);
            boolean _ = check.run(step, reading, unlimited, () -> false);
            // rereads the damaged chunks; throws if one cannot be read
            OptionalInt wrong = check.damaged().stream()
                    .filter(chunk -> !ChunkCheck.matches(image, wanted, chunk))
                    .findFirst();
            if (wrong.isPresent()) {
                return Optional.of("from byte " + Manifest.offset(wrong.getAsInt()) + " on, " + image
                        + " is not what its manifest says");
            }
            listener.read(Math.min(Manifest.offset(to), wanted.imageBytes()), wanted.imageBytes());
        }
        return Optional.empty();
    }
}
