package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.Directory;
import dev.siphon.node.linux.ErrnoException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
        try (PartLock lock = PartLock.take(new ImageFiles(request.image()));
                Directory source = open(request)) {
            Inode.Folder root = TreeWalk.walk(source, request.modes(), request.parallel(), listener);
            ImageLayout layout = new ImageLayout(Tree.of(root));
            ImageContent content = new ImageContent(layout, request.modes());
            Optional<Manifest> existing = existing(lock.files(), content);
            return existing.isPresent() ? existing.get() : make(request, lock, source, content);
        }
    }

    private static Directory open(PackRequest request) {
        String path = request.source().toString();
        try {
            return Directory.open(path);
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ELOOP, ENOTDIR ->
                    new DriverException.InvalidRequest("the source " + Quoted.of(path)
                            + " is no directory, or there is a symbolic link in its path");
                case ENOENT -> new DriverException.NotFound("there is no source " + Quoted.of(path));
                default -> SourceErrors.translate(Quoted.of(path), e);
            };
        }
    }

    private static Optional<Manifest> existing(ImageFiles files, ImageContent content) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(ErofsFormat.BLOCK_BYTES);
            content.fillFirst(block);
            return Publication.existing(
                    files, block.asByteBuffer(), content.layout().imageBytes());
        }
    }

    private Manifest make(PackRequest request, PartLock lock, Directory source, ImageContent content) {
        try (PartFile part =
                PartFile.open(lock, content.fingerprint(), content.layout().imageBytes())) {
            listener.packed(0, content.layout().imageBytes());
            ChunkWork work = new ChunkWork(source, content, part, listener);
            Crew.run("pack", request.parallel(), work);
            Manifest manifest = work.manifest();
            part.publish(manifest);
            return manifest;
        }
    }
}
