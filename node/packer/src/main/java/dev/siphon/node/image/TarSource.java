package dev.siphon.node.image;

import dev.siphon.node.tar.TarBytes;
import dev.siphon.node.tar.TarExtent;
import dev.siphon.node.tar.TarMember;
import dev.siphon.node.tar.TarScanner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Packs an uncompressed tar without unpacking it: reads its headers once, and then each file's bytes at their
/// offset in the tar.
final class TarSource implements ImageSource {
    private static final int TOLD_EVERY = 1000;

    private final Path path;
    private final int strip;
    private final Runnable used;
    private final UnchangedFile tar;
    private final Map<Long, List<TarExtent>> sparse = new HashMap<>();

    /// @param path absolute
    /// @param strip how many leading parts of each name are removed
    /// @param used runs once the image is complete
    TarSource(Path path, int strip, Runnable used) {
        this.path = path;
        this.strip = strip;
        this.used = used;
        tar = UnchangedFile.open(path);
    }

    /// @throws dev.siphon.csi.DriverException InvalidRequest (INVALID_ARGUMENT) for a damaged tar, with the offset
    @Override
    public ImageInode.Folder tree(ImageModes modes, int parallel, PackListener listener) {
        TarTree tree = new TarTree(modes, strip, tar.status());
        try (Bytes bytes = new Bytes(tar)) {
            TarScanner scanner = new TarScanner(bytes);
            long count = 0;
            for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
                TarMember member = next.get();
                if (!member.content().isPlain()) {
                    sparse.put(member.content().at(), member.content().extents());
                }
                tree.add(member);
                if (++count % TOLD_EVERY == 0) {
                    listener.walked(count);
                }
            }
        }
        return tree.build(listener);
    }

    /// For the thread that creates it.
    private static final class Bytes implements TarBytes, AutoCloseable {
        private static final int AT_ONCE = 64 * 1024;

        private final UnchangedFile tar;
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment memory = arena.allocate(AT_ONCE);

        Bytes(UnchangedFile tar) {
            this.tar = tar;
        }

        @Override
        public long size() {
            return tar.status().size();
        }

        @Override
        public void read(long offset, byte[] target, int length) {
            for (int done = 0; done < length; done += AT_ONCE) {
                MemorySegment part = memory.asSlice(0, Math.min(AT_ONCE, length - done));
                tar.read(offset + done, part);
                MemorySegment.copy(part, ValueLayout.JAVA_BYTE, 0, target, done, (int) part.byteSize());
            }
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    @Override
    public Reader reader(ImageInode.Folder root) {
        return new Contents(UnchangedFile.open(path));
    }

    private final class Contents implements Reader {
        private final UnchangedFile own;

        Contents(UnchangedFile own) {
            this.own = own;
            if (!tar.status().sameContent(own.status())) {
                throw SourceErrors.changed(tar.shown());
            }
        }

        @Override
        public void read(ImageInode.RegularFile file, long offset, MemorySegment target) {
            long at = file.status().inode();
            List<TarExtent> extents = sparse.getOrDefault(at, List.of());
            if (!sparse.containsKey(at)) {
                own.read(at + offset, target);
                return;
            }
            target.fill((byte) 0);
            long end = offset + target.byteSize();
            for (int i = firstAfter(extents, offset);
                    i < extents.size() && extents.get(i).offset() < end;
                    i++) {
                TarExtent extent = extents.get(i);
                long from = Math.max(offset, extent.offset());
                long length = Math.min(end, extent.end()) - from;
                own.read(extent.at() + from - extent.offset(), target.asSlice(from - offset, length));
            }
        }

        /// Returns the index of the first extent that ends after `offset`.
        private static int firstAfter(List<TarExtent> extents, long offset) {
            int low = 0;
            int high = extents.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (extents.get(middle).end() <= offset) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }

        @Override
        public void close() {
            own.close();
        }
    }

    @Override
    public void used() {
        used.run();
    }

    @Override
    public void close() {
        tar.close();
    }
}
