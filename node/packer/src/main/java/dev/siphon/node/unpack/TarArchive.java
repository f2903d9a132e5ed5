package dev.siphon.node.unpack;

import dev.siphon.node.tar.Compression;
import dev.siphon.node.tar.TarExtent;
import dev.siphon.node.tar.TarMember;
import dev.siphon.node.tar.TarScanner;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// A tar, compressed or not. It is read as a stream: only the compressed file takes room beside the tree.
record TarArchive(Path file, Compression compression) implements Archive {
    private static final int BUFFER_BYTES = 1 << 20;

    /// Returns the file's content, uncompressed.
    static InputStream open(Path file, Compression compression) throws IOException {
        InputStream compressed = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
        boolean isOpen = false;
        try {
            InputStream opened = compression.open(compressed);
            isOpen = true;
            return opened;
        } finally {
            if (!isOpen) {
                compressed.close();
            }
        }
    }

    @Override
    public void read(TreeSink sink) throws IOException {
        try (InputStream stream = open(file, compression)) {
            read(stream, sink);
        }
    }

    /// @param stream of an uncompressed tar
    static void read(InputStream stream, TreeSink sink) throws IOException {
        try {
            TarStream tar = new TarStream(stream);
            TarScanner scanner = new TarScanner(tar);
            for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
                pass(next.get(), tar, sink);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void pass(TarMember member, TarStream tar, TreeSink sink) throws IOException {
        MemberPath path = MemberPath.parse(member.path());
        TreeSink.Attributes attributes = TreeSink.Attributes.of(
                member.permissions(),
                member.modified().seconds(),
                member.modified().nanos());
        switch (member.kind()) {
            case DIRECTORY -> sink.directory(path, attributes);
            case FILE ->
                sink.file(path, attributes, member.content().size(), target -> {
                    for (TarExtent extent : member.content().extents()) {
                        tar.copy(extent.at(), extent.length(), extent.offset(), target);
                    }
                });
            case SYMLINK -> sink.symlink(path, member.link());
            case HARD_LINK -> sink.hardLink(path, linked(path, member.link()));
            case SPECIAL -> throw path.refused("is a device or a FIFO: leave it out");
        }
    }

    private static MemberPath linked(MemberPath path, String link) {
        try {
            return MemberPath.parse(link);
        } catch (dev.siphon.node.fetch.FetchFailure _) {
            throw path.refused("is a hard link to " + MemberPath.quoted(link) + ", outside of the tree: leave it out");
        }
    }
}
