package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// What the kernel says from a moment on, as `/dev/kmsg` tells it (`Documentation/ABI/testing/dev-kmsg`). Where
/// that may not be read, nothing was said: its words explain an error better than its number, and nothing may
/// depend on them.
public final class KernelLog implements AutoCloseable {
    private static final String DEVICE = "/dev/kmsg";
    private static final long SEEK_END = 2;

    /// `PRINTKRB_RECORD_MAX` is smaller in every kernel; a read that does not fit fails.
    private static final int RECORD_BYTES = 8192;

    /// A kernel that talks faster than it is read must not keep us for ever.
    private static final int MAX_RECORDS = 1_000;

    private final Optional<Descriptor> descriptor;

    private KernelLog(Optional<Descriptor> descriptor) {
        this.descriptor = descriptor;
    }

    /// Listens from now on.
    public static KernelLog fromNow() {
        try {
            Descriptor opened = Descriptor.open(DEVICE, Descriptor.O_NONBLOCK);
            Syscalls.LSEEK.call(opened.number(), 0, SEEK_END);
            return new KernelLog(Optional.of(opened));
        } catch (ErrnoException _) {
            return new KernelLog(Optional.empty());
        }
    }

    /// What has been said meanwhile and was not told before, line by line, without time and level.
    public List<String> said() {
        List<String> lines = new ArrayList<>();
        descriptor.ifPresent(open -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment record = arena.allocate(RECORD_BYTES);
                for (int i = 0; i < MAX_RECORDS; i++) {
                    Optional<String> text = next(open, record);
                    if (text.isEmpty()) {
                        return;
                    }
                    lines.add(message(text.get()));
                }
            }
        });
        return lines;
    }

    private static Optional<String> next(Descriptor open, MemorySegment record) {
        try {
            long length = Syscalls.READ.call(open.number(), record.address(), record.byteSize());
            byte[] octets = record.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return Optional.of(new String(octets, StandardCharsets.UTF_8));
        } catch (ErrnoException e) {
            // EPIPE: what was next has been overwritten meanwhile, and the read after this one goes on behind it
            return e.is(Errno.EPIPE) ? Optional.of("") : Optional.empty();
        }
    }

    /// A record is `LEVEL,NUMBER,TIME,FLAGS;MESSAGE`, then lines of properties.
    static String message(String record) {
        String line = record.lines().findFirst().orElse("");
        return line.substring(line.indexOf(';') + 1);
    }

    @Override
    public void close() {
        descriptor.ifPresent(Descriptor::close);
    }
}
