package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

/// A file that has no name and is on no disk (memfd_create(2)): a child process reads it through `/proc`, and
/// when this process closes it or dies, in whatever way, it is gone.
public final class MemoryFile implements AutoCloseable {
    private static final long MFD_CLOEXEC = 1;

    private final Descriptor descriptor;

    private MemoryFile(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// @param label what `/proc/pid/fd` shows, for people
    public static MemoryFile of(String label, byte[] content) {
        try (Arena arena = Arena.ofConfined()) {
            Descriptor descriptor =
                    new Descriptor(Syscalls.MEMFD_CREATE.call(Syscalls.text(arena, label), MFD_CLOEXEC));
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

    /// Where a process of the same user opens it while it lives.
    public String path() {
        return "/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor.number();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
