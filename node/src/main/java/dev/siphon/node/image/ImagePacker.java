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

    /// Makes the image and then the manifest that `request` names. When it returns both are whole and on disk;
    /// when it fails or dies there is no manifest, and the same request goes on where it stopped, if the source
    /// is still the same. May be repeated: an image that is whole stays as it is.
    ///
    /// The same files give the same bytes, whatever `parallel` is, wherever the source is mounted, and
    /// whoever packs.
    ///
    /// @return the manifest
    /// @throws DriverException InUse (FAILED_PRECONDITION) if the source changes or has a mount in it;
    ///     OperationPending (ABORTED) if another packer makes this image; IncompatibleExisting (ALREADY_EXISTS)
    ///     if the image's name is another file's; CapacityOutOfRange (OUT_OF_RANGE) for what EROFS cannot hold;
    ///     QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room; NotFound, AccessDenied, BackendUnavailable
    ///     as the file systems say
    public Manifest pack(PackRequest request) {
        return pack(request.image(), request.modes(), request.parallel(), _ -> DirectorySource.open(request.source()));
    }

    /// The same of any source, which is asked for once nobody else makes the image.
    Manifest pack(Path image, ImageModes modes, int parallel, ImageSource.ReaderOpener opener) {
        try (PartLock lock = PartLock.take(new ImageFiles(image))) {
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
