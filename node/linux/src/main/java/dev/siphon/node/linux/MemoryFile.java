package dev.siphon.node.linux;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

/// A file without a name, in memory only (memfd_create(2)). A child process reads or writes it through `/proc`. It
/// is freed when nobody has it open any more, in any way.
public final class MemoryFile implements AutoCloseable {
    private static final long MFD_CLOEXEC = 1;
    private static final long MFD_ALLOW_SEALING = 2;

    /// Of `linux/fcntl.h`.
    private static final long F_ADD_SEALS = 1033;

    private static final long F_SEAL_SHRINK = 2;
    private static final long F_SEAL_GROW = 4;
    private static final long F_SEAL_WRITE = 8;

    private final Descriptor descriptor;

    private MemoryFile(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// @param label shown in `/proc/pid/fd`, for people
    public static MemoryFile of(String label, byte[] content) {
        try (Arena arena = Arena.ofConfined()) {
            Descriptor descriptor = new Descriptor(
                    Syscalls.MEMFD_CREATE.call(Syscalls.text(arena, label), MFD_CLOEXEC | MFD_ALLOW_SEALING));
            MemoryFile file = new MemoryFile(descriptor);
            try {
                Files.write(Path.of(descriptor.path()), content);
                return file;
            } catch (IOException e) {
                file.close();
                throw new UncheckedIOException("cannot write the memory file " + label, e);
            }
        }
    }

    /// Forbids all further writes, also through descriptors that are already open: write(2) returns EPERM.
    public void seal() {
        Syscalls.FCNTL.call(descriptor.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    }

    /// Returns at most the first `limit` bytes.
    public byte[] beginning(int limit) {
        try (InputStream in = Files.newInputStream(Path.of(descriptor.path()))) {
            return in.readNBytes(limit);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read a memory file", e);
        }
    }

    /// Returns the path at which processes of the same user can open it while this process lives.
    public String path() {
        return "/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor.number();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
