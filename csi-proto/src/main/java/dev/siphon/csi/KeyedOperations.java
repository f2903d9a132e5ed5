package dev.siphon.csi;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/// At most one operation per key at a time; a second one is told to come back (CSI v1.13, "Concurrency").
///
/// The key belongs to the operation, not to the call: a native call cannot be cancelled, so a caller whose
/// deadline passes leaves while the call goes on. Whoever starts such a call says so with [#outlive], and every
/// key of the operation stays taken until the call has ended.
public final class KeyedOperations {
    private static final ScopedValue<Operation> CURRENT = ScopedValue.newInstance();

    private static final int ALONE = -1;

    /// How many operations share a key, or [#ALONE].
    private final Map<String, Integer> taken = new ConcurrentHashMap<>();

    /// Runs `body` with `key` taken. Operations nest: inner ones keep the outer ones' keys alive too.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another operation has the key
    public <T> T run(String key, Supplier<T> body) {
        return run(key, false, body);
    }

    /// Runs `body` with `key` taken together with others that share it: what is under the key is used, and must
    /// not go meanwhile.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another operation has the key for itself
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

    /// As [#run(String, Supplier)], without a result.
    public void run(String key, Runnable body) {
        run(key, () -> {
            body.run();
            return key;
        });
    }

    /// Keeps the keys of the operation that runs on this thread until `call` has ended, in whatever way. Outside
    /// an operation there is nothing to keep.
    public static void outlive(CompletableFuture<?> call) {
        current().ifPresent(operation -> operation.add(call));
    }

    private static Optional<Operation> current() {
        return CURRENT.isBound() ? Optional.of(CURRENT.get()) : Optional.empty();
    }

    /// How many keys are taken, for metrics and tests.
    public int inFlight() {
        return taken.size();
    }

    /// The calls that may outlive one operation, and the operation around it if there is one.
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
