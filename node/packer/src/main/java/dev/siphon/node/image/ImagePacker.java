package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/// Packs directories into images.
public final class ImagePacker {
    private final PackListener listener;

    public ImagePacker(PackListener listener) {
        this.listener = listener;
    }

    /// Makes the image and then the manifest of `request`. On return both are complete and on disk. After a failure
    /// or crash there is no manifest, and the same request resumes if the source is unchanged. May be repeated: a
    /// complete image stays as it is.
    ///
    /// The same files give the same bytes, whatever `parallel` is, wherever the source is mounted, and whoever
    /// packs.
    ///
    /// @return the manifest
    /// @throws DriverException InUse (FAILED_PRECONDITION) if the source changes or has a mount in it;
    ///     OperationPending (ABORTED) if another packer makes this image; IncompatibleExisting (ALREADY_EXISTS) if
    ///     another file has the image's name; CapacityOutOfRange (OUT_OF_RANGE) if the tree exceeds the limits of
    ///     EROFS; QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room; NotFound (NOT_FOUND), AccessDenied
    ///     (PERMISSION_DENIED), BackendUnavailable (UNAVAILABLE) for errors of the file systems
    public Manifest pack(PackRequest request) {
        return pack(request.image(), request.modes(), request.parallel(), _ -> DirectorySource.open(request.source()));
    }

    /// Does the same for any source; opens it once the image's lock is held.
    Manifest pack(Path image, ImageModes modes, int parallel, ImageSource.ReaderOpener opener) {
        ImageFiles files = new ImageFiles(image);
        Manifest manifest = packLocked(files, modes, parallel, opener);
        ImagePublication.handOver(files);
        return manifest;
    }

    private Manifest packLocked(ImageFiles files, ImageModes modes, int parallel, ImageSource.ReaderOpener opener) {
        try (PartLock lock = PartLock.take(files)) {
            ImagePublication.checkName(lock.files());
            try (ImageSource source = opener.open(lock.files())) {
                ImageInode.Folder root = source.tree(modes, parallel, listener);
                ImageContent content = new ImageContent(new ImageLayout(ImageTree.of(root)), modes);
                Optional<Manifest> existing = existing(lock.files(), content);
                Manifest manifest = existing.isPresent() ? existing.get() : make(parallel, lock, source, content);
                source.used();
                return manifest;
            }
        }
    }

    private static Optional<Manifest> existing(ImageFiles files, ImageContent content) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(ErofsFormat.BLOCK_BYTES);
            content.fillFirst(block);
            return ImagePublication.existing(
                    files, block.asByteBuffer(), content.layout().imageBytes());
        }
    }

    private Manifest make(int parallel, PartLock lock, ImageSource source, ImageContent content) {
        try (PartFile part =
                PartFile.open(lock, content.fingerprint(), content.layout().imageBytes())) {
            listener.packed(0, content.layout().imageBytes());
            ChunkWork work = new ChunkWork(source, content, part, listener);
            WorkerPool.run("pack", parallel, work);
            Manifest manifest = work.manifest();
            part.publish(manifest);
            return manifest;
        }
    }
}
