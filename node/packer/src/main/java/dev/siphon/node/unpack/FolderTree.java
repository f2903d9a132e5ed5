package dev.siphon.node.unpack;

import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.linux.TreeFile;
import dev.siphon.node.linux.TreeReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import jnr.constants.platform.Errno;

/// A directory with everything in it. Hard links become files of their own.
record FolderTree(Path folder) implements Archive {
    private static final int BUFFER_BYTES = 1 << 20;

    @Override
    public void read(TreeSink sink) throws IOException {
        try (DirectoryHandle root = DirectoryHandle.open(folder.toString());
                TreeReader reader = new TreeReader(root)) {
            Deque<MemberPath> pending = new ArrayDeque<>();
            pending.push(new MemberPath(""));
            while (!pending.isEmpty()) {
                MemberPath directory = pending.pop();
                reader.enter(directory.bytes());
                for (byte[] name : reader.names()) {
                    MemberPath path = directory.below(name);
                    FileStatus status = reader.status(name);
                    pass(reader, path, name, status, sink);
                    if (status.kind() == FileStatus.Kind.DIRECTORY) {
                        pending.push(path);
                    }
                }
            }
        } catch (ErrnoException e) {
            throw failure(e);
        }
    }

    private FetchFailure failure(ErrnoException e) {
        String shown = QuotedText.of(folder.toString());
        if (e.is(Errno.ENOENT, Errno.ENOTDIR, Errno.ELOOP)) {
            return new FetchFailure(
                    Reason.NOT_FOUND, shown + " or a directory in it is not there: check the claim and the path");
        }
        if (e.is(Errno.EACCES, Errno.EPERM)) {
            return new FetchFailure(
                    Reason.WRONG_KEY,
                    shown + " has a file or directory that this account may not read: change its mode");
        }
        return new FetchFailure(Reason.SOURCE_UNAVAILABLE, "reading " + shown + " failed: " + e.getMessage());
    }

    private static void pass(TreeReader reader, MemberPath path, byte[] name, FileStatus status, TreeSink sink)
            throws IOException {
        TreeSink.Attributes attributes =
                TreeSink.Attributes.of(status.permissions(), status.modifiedSeconds(), status.modifiedNanos());
        switch (status.kind()) {
            case DIRECTORY -> sink.directory(path, attributes);
            case REGULAR ->
                sink.file(path, attributes, status.size(), target -> copy(reader, path, name, status, target));
            case SYMLINK -> sink.symlink(path, new String(reader.target(name), StandardCharsets.ISO_8859_1));
            case SPECIAL -> throw path.refused("is a device, a socket or a FIFO: remove it");
        }
    }

    private static void copy(
            TreeReader reader, MemberPath path, byte[] name, FileStatus status, TreeSink.Target target) {
        try (TreeFile file = reader.open(name);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BUFFER_BYTES);
            byte[] bytes = new byte[BUFFER_BYTES];
            long done = 0;
            while (done < status.size()) {
                int read = (int) file.read(memory, done);
                if (read == 0) {
                    break;
                }
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, bytes, 0, read);
                target.write(done, bytes, read);
                done += read;
            }
            if (!status.sameContent(file.status())) {
                throw new FetchFailure(
                        Reason.SOURCE_UNAVAILABLE,
                        path.shown() + " changed while it was read: try again once nobody writes there");
            }
        }
    }
}
