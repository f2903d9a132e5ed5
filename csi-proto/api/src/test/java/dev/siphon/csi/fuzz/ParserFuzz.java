package dev.siphon.csi.fuzz;

import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/// A parser of bytes from other processes, with its limits. For any input it must return or throw a declared
/// exception, within its limits of time and memory.
///
/// `siphon.fuzz.parser.seconds` sets how long each parser runs (default 0.5). `siphon.fuzz.seed` runs one input
/// instead.
///
/// @param name for the report
/// @param valid bytes that the real writer wrote; the parser must accept all of them
/// @param refusals the exceptions that the parser declares
/// @param mostBytes the most memory that one input may allocate, whatever sizes it claims
/// @param parse reads an input
public record ParserFuzz(
        String name, List<byte[]> valid, Set<Class<? extends Exception>> refusals, long mostBytes, Parse parse) {
    /// Limit of CPU time for one input.
    private static final Duration LONGEST = Duration.ofSeconds(2);

    /// Limit of wall time: a parser that needs longer counts as endless.
    private static final Duration ENDLESS = Duration.ofSeconds(60);

    /// Allowed heap growth from the first second to the last, including classes and caches of the JVM.
    private static final long GROWTH_BYTES = 8 << 20;

    private static final int MOST_SHOWN_BYTES = 2048;
    private static final long NANOS_PER_MS = 1_000_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /// Seeds that failed; a repetition of the test starts with them.
    private static final Map<String, Long> FAILED = new HashMap<>();

    /// Reads an input.
    public interface Parse {
        void read(byte[] input) throws Exception;
    }

    public ParserFuzz {
        valid = List.copyOf(valid);
        refusals = Set.copyOf(refusals);
    }

    /// Returns a parser that may allocate 16 MiB per input; an input has at most 128 KiB.
    @SafeVarargs
    public static ParserFuzz of(String name, List<byte[]> valid, Parse parse, Class<? extends Exception>... refusals) {
        Set<Class<? extends Exception>> declared = new HashSet<>();
        for (Class<? extends Exception> refusal : refusals) {
            declared.add(refusal);
        }
        return new ParserFuzz(name, valid, declared, 16 << 20, parse);
    }

    /// Returns the same parser with another limit of memory.
    public ParserFuzz allocating(long most) {
        return new ParserFuzz(name, valid, refusals, most, parse);
    }

    /// Encodes texts as UTF-8.
    public static List<byte[]> texts(String... texts) {
        return Stream.of(texts)
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    /// Decodes bytes as UTF-8, as readers of files and replies do.
    public static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /// Runs the parser, and fails with the seed of the first input that breaks a rule.
    public void run() {
        for (byte[] each : valid) {
            try {
                parse.read(each);
            } catch (Exception e) {
                throw new IllegalArgumentException(name + " refuses what is valid: " + shown(each), e);
            }
        }
        Optional<Long> only = Optional.ofNullable(Long.getLong("siphon.fuzz.seed"));
        Run run = new Run();
        Thread thread = Thread.ofPlatform().name("fuzz " + name).start(() -> {
            if (only.isPresent()) {
                run.one(only.get());
            } else {
                run.many();
            }
        });
        run.await(thread);
        System.out.println(run.report());
    }

    private static String shown(byte[] input) {
        byte[] some = Arrays.copyOf(input, Math.min(input.length, MOST_SHOWN_BYTES));
        return input.length + " bytes, " + new String(some, StandardCharsets.ISO_8859_1) + " ("
                + HexFormat.of().formatHex(some) + ")";
    }

    /// The inputs of one run and their cost.
    private final class Run {
        private static final int WARM_UP_INPUTS = 100;

        private final long begun = System.nanoTime();
        private final long end =
                begun + (long) (Double.parseDouble(System.getProperty("siphon.fuzz.parser.seconds", "0.5")) * 1e9);
        private volatile long seed;
        private volatile long since = begun;
        private volatile Optional<AssertionError> failure = Optional.empty();
        private long inputs;
        private long refused;
        private long mostNanos;
        private long mostAllocated;
        private long heapFirst;
        private long heapLast;

        void many() {
            Random seeds = new Random();
            Optional.ofNullable(FAILED.get(name)).ifPresent(this::one);
            while (failure.isEmpty() && (System.nanoTime() < end || inputs <= WARM_UP_INPUTS)) {
                one(seeds.nextLong());
                if (inputs == WARM_UP_INPUTS) {
                    heapFirst = heap();
                }
            }
            heapLast = heap();
            long grown = heapLast - heapFirst;
            if (failure.isEmpty() && grown > GROWTH_BYTES) {
                failure = Optional.of(new AssertionError(
                        "after " + inputs + " inputs of " + name + " the heap has " + grown + " bytes more"));
            }
        }

        private static long heap() {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            return runtime.totalMemory() - runtime.freeMemory();
        }

        void one(long which) {
            byte[] input = BentBytes.bend(valid, which);
            seed = which;
            since = System.nanoTime();
            long cpu = THREADS.getCurrentThreadCpuTime();
            long allocated = THREADS.getCurrentThreadAllocatedBytes();
            Optional<Throwable> thrown = Optional.empty();
            try {
                parse.read(input);
            } catch (Exception | Error e) { // an Error is what we search for
                thrown = Optional.of(e);
            }
            allocated = THREADS.getCurrentThreadAllocatedBytes() - allocated;
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            inputs++;
            mostNanos = Math.max(mostNanos, cpu);
            mostAllocated = Math.max(mostAllocated, allocated);
            thrown.filter(this::isRefusal).ifPresent(_ -> refused++);
            if (thrown.isPresent() && !isRefusal(thrown.get())) {
                failed("throws " + thrown.get(), input, thrown);
            } else if (cpu > LONGEST.toNanos()) {
                failed("takes " + cpu / NANOS_PER_MS + " ms", input, Optional.empty());
            } else if (allocated > mostBytes) {
                failed("allocates " + allocated + " bytes", input, Optional.empty());
            }
        }

        private boolean isRefusal(Throwable thrown) {
            return refusals.stream().anyMatch(refusal -> refusal.isInstance(thrown));
        }

        private void failed(String how, byte[] input, Optional<Throwable> cause) {
            FAILED.put(name, seed);
            failure = Optional.of(new AssertionError(
                    name + " " + how + " (-Dsiphon.fuzz.seed=" + seed + "): " + shown(input), cause.orElse(null)));
        }

        /// Waits until the thread ends, or one input takes too long.
        void await(Thread thread) {
            try {
                while (!thread.join(Duration.ofSeconds(1))) {
                    if (System.nanoTime() - since > ENDLESS.toNanos()) {
                        FAILED.put(name, seed);
                        AssertionError hangs = new AssertionError(name + " does not end (-Dsiphon.fuzz.seed=" + seed
                                + "): " + shown(BentBytes.bend(valid, seed)));
                        hangs.setStackTrace(thread.getStackTrace());
                        throw hangs;
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                fail("interrupted");
            }
            failure.ifPresent(error -> {
                throw error;
            });
        }

        String report() {
            return String.format(
                    Locale.ROOT,
                    "fuzz %-24s %,12d inputs %6d s %3d %% refused, most %5d ms %,10d KiB, heap %,7d -> %,7d KiB",
                    name,
                    inputs,
                    (System.nanoTime() - begun) / 1_000_000_000,
                    refused * 100 / Math.max(1, inputs),
                    mostNanos / NANOS_PER_MS,
                    mostAllocated >> 10,
                    heapFirst >> 10,
                    heapLast >> 10);
        }
    }
}
