package dev.siphon.csi;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/// Runs at most one operation per key at a time, or several that share it. Rejects others with ABORTED, so that the
/// caller retries (CSI v1.13, "Concurrency").
///
/// The lock on the key belongs to the operation, not to the call. A native call cannot be cancelled, so it may
/// outlive its caller's deadline. Code that starts such a call registers it with [#outlive]; the operation's keys
/// then stay locked until the call ends.
public final class KeyedOperations {
    private static final ScopedValue<Operation> CURRENT = ScopedValue.newInstance();

    private static final int ALONE = -1;

    /// The number of operations that share a key, or [#ALONE].
    private final Map<String, Integer> taken = new ConcurrentHashMap<>();

    /// Runs `body` with an exclusive lock on `key`. Operations nest: calls of inner ones also extend the locks of
    /// outer ones.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another operation has the key
    public <T> T run(String key, Supplier<T> body) {
        return run(key, false, body);
    }

    /// Runs `body` with a shared lock on `key`: it uses what the key names, which must not be deleted meanwhile.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another operation has an exclusive lock
    public <T> T runShared(String key, Supplier<T> body) {
        return run(key, true, body);
    }

    private <T> T run(String key, boolean shared, Supplier<T> body) {
        taken.compute(key, (_, holders) -> {
            if (holders == null) {
                return shared ? 1 : ALONE;
            }
            if (!shared || holders == ALONE) {
                throw new DriverException.OperationPending(
                        "an operation on " + key + " is still under way; retry when it has ended");
            }
            return holders + 1;
        });
        Operation operation = new Operation(current(), new CopyOnWriteArrayList<>());
        try {
            return ScopedValue.where(CURRENT, operation).call(body::get);
        } finally {
            var _ = operation.whenAllEnded().whenComplete((_, _) -> release(key));
        }
    }

    private void release(String key) {
        taken.computeIfPresent(key, (_, holders) -> holders > 1 ? holders - 1 : null);
    }

    /// Runs a body without a result, as [#run(String, Supplier)].
    public void run(String key, Runnable body) {
        run(key, () -> {
            body.run();
            return key;
        });
    }

    /// Keeps the locks of this thread's operation until `call` has ended in any way. Does nothing outside an
    /// operation.
    public static void outlive(CompletableFuture<?> call) {
        current().ifPresent(operation -> operation.add(call));
    }

    private static Optional<Operation> current() {
        return CURRENT.isBound() ? Optional.of(CURRENT.get()) : Optional.empty();
    }

    /// Returns the number of locked keys, for metrics and tests.
    public int inFlight() {
        return taken.size();
    }

    /// The calls that may outlive an operation, and the enclosing operation if there is one.
    private record Operation(Optional<Operation> outer, List<CompletableFuture<?>> calls) {
        void add(CompletableFuture<?> call) {
            calls.add(call);
            outer.ifPresent(operation -> operation.add(call));
        }

        CompletableFuture<?> whenAllEnded() {
            return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
        }
    }
}
