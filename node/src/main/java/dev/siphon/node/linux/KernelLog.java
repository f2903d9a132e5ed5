package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Pattern TIME = Pattern.compile("^[0-9]{1,9},[0-9]{1,18},([0-9]{1,18}),");
    private static final long MICROS_PER_SECOND = TimeUnit.SECONDS.toMicros(1);

    private final Optional<Descriptor> descriptor;
    private final long fromMicros;

    /// @param fromMicros what was said before is left out, in the kernel's time
    private KernelLog(Optional<Descriptor> descriptor, long fromMicros) {
        this.descriptor = descriptor;
        this.fromMicros = fromMicros;
    }

    /// Listens from now on.
    public static KernelLog fromNow() {
        return open(opened -> Syscalls.LSEEK.call(opened.number(), 0, SEEK_END), 0);
    }

    /// Begins with what was said within `past`, as far as the kernel still has it.
    ///
    /// @throws UncheckedIOException if the kernel does not tell the time
    public static KernelLog since(Duration past) {
        return open(_ -> {}, uptimeMicros() - TimeUnit.NANOSECONDS.toMicros(past.toNanos()));
    }

    private static KernelLog open(Consumer<Descriptor> begin, long fromMicros) {
        try {
            Descriptor opened = Descriptor.open(DEVICE, Descriptor.O_NONBLOCK);
            begin.accept(opened);
            return new KernelLog(Optional.of(opened), fromMicros);
        } catch (ErrnoException _) {
            return new KernelLog(Optional.empty(), fromMicros);
        }
    }

    private static long uptimeMicros() {
        try {
            String uptime = Files.readString(UPTIME);
            return (long) (Double.parseDouble(uptime.substring(0, uptime.indexOf(' '))) * MICROS_PER_SECOND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + UPTIME, e);
        }
    }

    /// What has been said meanwhile and was not told before, line by line, without time and level.
    public List<String> said() {
        List<String> lines = new ArrayList<>();
        descriptor.ifPresent(open -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment record = arena.allocate(RECORD_BYTES);
                while (lines.size() < MAX_RECORDS) {
                    Optional<String> text = next(open, record);
                    if (text.isEmpty()) {
                        return;
                    }
                    text.filter(now -> isFrom(now, fromMicros))
                            .map(KernelLog::message)
                            .ifPresent(lines::add);
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

    /// Whether it was not said before `micros`, as far as it says when.
    static boolean isFrom(String record, long micros) {
        Matcher time = TIME.matcher(record);
        return !time.find() || Long.parseLong(time.group(1)) >= micros;
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
