package dev.siphon.controller.kubernetes;

import java.util.HashMap;
import java.util.Map;

/// Divides a limit, such as bytes or requests, among namespaces. Each gets at most half of what the others leave, so
/// that something remains for later ones.
///
/// Not thread-safe.
final class NamespaceShares {
    private final long most;
    private final Map<String, Long> shares = new HashMap<>();
    private long total;

    /// @param most for all namespaces together
    NamespaceShares(long most) {
        this.most = most;
    }

    /// Returns what all namespaces have taken.
    long total() {
        return total;
    }

    /// Whether the namespace may take nothing more.
    boolean isUsedUp(String namespace) {
        return own(namespace) >= most - total;
    }

    /// Whether the namespace may take `amount` more.
    boolean fits(String namespace, long amount) {
        return amount <= (most - (total - own(namespace))) / 2 - own(namespace);
    }

    /// Counts what the namespace takes, whether it fits or not.
    ///
    /// @param amount negative for what it gives back
    void take(String namespace, long amount) {
        total += amount;
        shares.merge(namespace, amount, Long::sum);
        shares.remove(namespace, 0L);
    }

    private long own(String namespace) {
        return shares.getOrDefault(namespace, 0L);
    }
}
