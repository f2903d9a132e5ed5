package dev.siphon.node.image;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/// Makes an image chunk by chunk. A thread reads the contents of a chunk into its buffer, computes the digest, and
/// writes the chunk. So each thread needs memory for one chunk. A chunk is also the unit that is read in parallel,
/// verified, and redone.
final class ChunkWork implements WorkerPool.Work {
    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[ErofsFormat.BLOCK_BYTES]).asReadOnly();

    private final ImageSource source;
    private final ImageContent content;
    private final PartFile part;
    private final PackListener listener;
    private final long imageBytes;
    private final AtomicReferenceArray<Digest> digests;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicLong doneBytes = new AtomicLong();

    ChunkWork(ImageSource source, ImageContent content, PartFile part, PackListener listener) {
        this.source = source;
        this.content = content;
        this.part = part;
        this.listener = listener;
        imageBytes = content.layout().imageBytes();
        digests = new AtomicReferenceArray<>(Math.toIntExact(Math.ceilDiv(imageBytes, Manifest.CHUNK_BYTES)));
    }

    @Override
    public void untilDone() {
        ImageInode.Folder root = content.layout().tree().root();
        try (Arena arena = Arena.ofConfined();
                ImageSource.Reader files = source.reader(root)) {
            MemorySegment memory = arena.allocate(Manifest.CHUNK_BYTES, ErofsFormat.BLOCK_BYTES);
            for (int index = next.getAndIncrement(); index < digests.length(); index = next.getAndIncrement()) {
                long offset = Manifest.offset(index);
                MemorySegment chunk = memory.asSlice(0, Math.min(memory.byteSize(), imageBytes - offset));
                digests.set(index, chunk(index, chunk, files));
                listener.packed(doneBytes.addAndGet(chunk.byteSize()), imageBytes);
            }
        }
    }

    private Digest chunk(int index, MemorySegment chunk, FileData files) {
        long offset = Manifest.offset(index);
        Optional<Digest> claimed = part.claimed(index);
        if (claimed.isPresent()) {
            part.read(offset, chunk);
            if (digest(chunk).equals(claimed.get())) {
                return claimed.get();
            }
        }
        content.fill(offset, chunk, files);
        boolean zeros = isZeros(chunk);
        if (!part.fresh() || !zeros) {
            part.write(offset, chunk);
        }
        Digest digest = zeros && chunk.byteSize() == Manifest.CHUNK_BYTES ? OfZeros.DIGEST : digest(chunk);
        part.finished(index, digest);
        return digest;
    }

    private static Digest digest(MemorySegment chunk) {
        return Digest.of(chunk.asByteBuffer());
    }

    /// Whether a chunk is all zeros. A new file reads as zeros where nothing was written, so holes of large files
    /// need no write.
    private static boolean isZeros(MemorySegment chunk) {
        for (long at = 0; at < chunk.byteSize(); at += ZEROS.byteSize()) {
            if (chunk.asSlice(at, ZEROS.byteSize()).mismatch(ZEROS) >= 0) {
                return false;
            }
        }
        return true;
    }

    /// Cached, because a hole of 1 TiB has 262,144 such chunks.
    private static final class OfZeros {
        static final Digest DIGEST = Digest.of(ByteBuffer.allocate(Manifest.CHUNK_BYTES));
    }

    @Override
    public void giveUp() {
        next.set(digests.length());
    }

    /// Returns the manifest, once all chunks are done.
    Manifest manifest() {
        List<Digest> all =
                IntStream.range(0, digests.length()).mapToObj(digests::get).toList();
        return new Manifest(imageBytes, content.layout().tree().files(), all);
    }
}
