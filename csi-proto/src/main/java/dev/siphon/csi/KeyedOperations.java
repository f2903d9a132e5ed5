package dev.siphon.csi;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/// At most one operation per key at a time; a second one is told to come back (CSI v1.13, "Concurrency").
///
/// The key belongs to the operation, not to the call: whoever starts a native call that outlives its caller keeps the
/// [Held] key until that call has ended.
public final class KeyedOperations {
    private final Set<String> held = ConcurrentHashMap.newKeySet();

    /// A key in use, given back by [#close()], which may be called more than once.
    public interface Held extends AutoCloseable {
        @Override
        void close();
    }

    /// Takes `key`.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if an operation holds it
    public Held take(String key) {
        if (!held.add(key)) {
            throw new DriverException.OperationPending(
                    "an operation on " + key + " is still under way; retry when it has ended");
        }
        AtomicBoolean open = new AtomicBoolean(true);
        return () -> {
            if (open.getAndSet(false)) {
                held.remove(key);
            }
        };
    }
}
