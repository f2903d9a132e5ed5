package dev.siphon.node.mount;

import dev.siphon.csi.DeadlineExecutor;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.function.Supplier;

/// Runs calls that may hang in the kernel by a [DeadlineExecutor] (ADR 8).
///
/// A hung volume does not affect other volumes. Each volume may have [#MAX_PER_VOLUME] calls in
/// progress, and there are that many threads for each volume that a node can hold.
public final class BlockingCalls implements AutoCloseable {
    /// One change (the volume's lock admits no more) with the check that it makes, plus hung checks of
    /// two older mounts of the volume.
    private static final int MAX_PER_VOLUME = 4;

    /// 256 volumes: above the kubelet's default of 110 pods.
    private static final int MAX_THREADS = 256 * MAX_PER_VOLUME;

    private final DeadlineExecutor calls =
            new DeadlineExecutor(Thread.ofPlatform().daemon().name("mount-", 0).factory(), MAX_THREADS, MAX_PER_VOLUME);

    /// Runs `body`, which changes something. The locks that this thread holds in
    /// [dev.siphon.csi.KeyedOperations] stay held until `body` returns, even if this method returns
    /// earlier.
    ///
    /// @param volume the volume that the call counts against
    /// @throws DriverException as [DeadlineExecutor#run]
    public <T> T change(String volume, Duration limit, Supplier<T> body) {
        return calls.run(volume, "the file system of " + volume, limit, body)
                .orElseThrow(() -> new DriverException.BackendUnavailable("the driver is stopping; retry"));
    }

    /// Same as [#change(String, Duration, Supplier)], without a result.
    public void change(String volume, Duration limit, Runnable body) {
        change(volume, limit, () -> {
            body.run();
            return volume;
        });
    }

    /// Runs `body`, which only reads, as [DeadlineExecutor#check].
    ///
    /// @param subject what is checked; concurrent calls with the same subject share one run
    public <T> T check(String volume, String subject, Duration limit, Supplier<T> body) {
        String place = subject.equals(volume) ? "" : " (" + subject + ")";
        return calls.check(volume, "the file system of " + volume + place, limit, body);
    }

    /// Returns the number of calls in progress, for metrics and tests.
    public int underWay() {
        return calls.underWay();
    }

    /// Accepts no more calls. Hung calls keep their threads until the process exits.
    @Override
    public void close() {
        calls.close();
    }
}
