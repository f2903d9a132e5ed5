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

/// Reads the kernel's messages from a given time on, from `/dev/kmsg` (`Documentation/ABI/testing/dev-kmsg`). If
/// that is not readable, there are none: the messages only explain an error, so nothing may depend on them.
public final class KernelLog implements AutoCloseable {
    private static final String DEVICE = "/dev/kmsg";
    private static final long SEEK_END = 2;

    /// Larger than `PRINTKRB_RECORD_MAX` in every kernel: a read that does not fit fails.
    private static final int RECORD_BYTES = 8192;

    /// Ends the loop if the kernel logs faster than we read.
    private static final int MAX_RECORDS = 1_000;

    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Pattern TIME = Pattern.compile("^[0-9]{1,9},[0-9]{1,18},([0-9]{1,18}),");
    private static final long MICROS_PER_SECOND = TimeUnit.SECONDS.toMicros(1);

    private final Optional<Descriptor> descriptor;
    private final long fromMicros;

    /// @param fromMicros the earliest message to return, in the kernel's time
    private KernelLog(Optional<Descriptor> descriptor, long fromMicros) {
        this.descriptor = descriptor;
        this.fromMicros = fromMicros;
    }

    /// Opens the log at its end.
    public static KernelLog fromNow() {
        return open(opened -> Syscalls.LSEEK.call(opened.number(), 0, SEEK_END), 0);
    }

    /// Opens the log at the messages of the last `past`, as far as the kernel still has them.
    ///
    /// @throws UncheckedIOException if the uptime cannot be read
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

    /// Returns the messages since the last call, one line each, without time and level.
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
            // EPIPE: the next record was overwritten meanwhile; the following read skips to the next one left
            return e.is(Errno.EPIPE) ? Optional.of("") : Optional.empty();
        }
    }

    /// Whether the record is from `micros` or later, or has no time.
    static boolean isFrom(String record, long micros) {
        Matcher time = TIME.matcher(record);
        return !time.find() || Long.parseLong(time.group(1)) >= micros;
    }

    /// Returns the message of a record `LEVEL,NUMBER,TIME,FLAGS;MESSAGE`, which lines of properties may follow.
    static String message(String record) {
        String line = record.lines().findFirst().orElse("");
        return line.substring(line.indexOf(';') + 1);
    }

    @Override
    public void close() {
        descriptor.ifPresent(Descriptor::close);
    }
}
