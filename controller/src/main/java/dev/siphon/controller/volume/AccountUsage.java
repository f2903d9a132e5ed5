package dev.siphon.controller.volume;

import java.math.BigInteger;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/// What one account has committed in one file system. Whoever uses it holds its lock.
final class AccountUsage {
    /// How long after its end a call whose outcome is not known may still have taken effect: several times what
    /// the adapter gives a call that is lost.
    private static final Duration UNSURE = Duration.ofMinutes(10);

    final ReentrantLock lock = new ReentrantLock();

    /// The allowance: empty while it is not known, empty in it if there is none.
    Optional<OptionalLong> limit = Optional.empty();

    /// Whether the limit is the directory's, and the reconciler keeps it.
    boolean reconciled;

    Optional<String> account = Optional.empty();

    /// Whether the sum has been looked at again since the account's first use.
    boolean lookedTwice;

    private final Map<QuotaItem, Long> charges = new HashMap<>();
    private final Map<QuotaItem, Reserved> reserved = new HashMap<>();
    private final Set<String> overcommitted = new HashSet<>();
    private final LongSupplier nanoTime;

    /// Wider than a long: with overcommit sizes add up to more than that holds, and come off again.
    private BigInteger total = BigInteger.ZERO;

    private Optional<Long> summedAt = Optional.empty();

    /// What was reserved for an operation that has not succeeded.
    ///
    /// @param endedAt when it failed with an outcome that is not known; empty while it runs
    private record Reserved(long bytes, Optional<Long> endedAt) {}

    /// @param nanoTime [System#nanoTime]
    AccountUsage(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    boolean isLimited() {
        return limit.flatMap(AccountUsage::present).isPresent();
    }

    private static Optional<Long> present(OptionalLong value) {
        return value.isPresent() ? Optional.of(value.getAsLong()) : Optional.empty();
    }

    boolean isSummed() {
        return summedAt.isPresent();
    }

    /// How long ago the file system was asked, by the clock of [System#nanoTime].
    boolean isOlderThan(Duration age) {
        return summedAt.filter(at -> nanoTime.getAsLong() - at < age.toNanos()).isEmpty();
    }

    /// The sum of all charges, those that are only reserved included; [Long#MAX_VALUE] if it is more.
    long committed() {
        return total.bitLength() < Long.SIZE ? total.longValue() : Long.MAX_VALUE;
    }

    /// What snapshots count for in it.
    long ofSnapshots() {
        return charges.entrySet().stream()
                .filter(each -> each.getKey().isSnapshot())
                .mapToLong(Map.Entry::getValue)
                .reduce(0, UsageCalculator::plus);
    }

    OptionalLong charge(QuotaItem item) {
        Long bytes = charges.get(item);
        return bytes == null ? OptionalLong.empty() : OptionalLong.of(bytes);
    }

    /// Whether there are things of which nobody knows whether they are there.
    boolean isUnsure() {
        return reserved.values().stream().anyMatch(each -> each.endedAt().isPresent());
    }

    /// Whether an operation on the thing has not come to its end.
    boolean isReserved(QuotaItem item) {
        return reserved.containsKey(item);
    }

    /// Whether the thing is there for certain, not only reserved.
    boolean has(QuotaItem item) {
        return charges.containsKey(item) && !reserved.containsKey(item);
    }

    boolean isOvercommitted(QuotaItem item) {
        return overcommitted.contains(item.subvolume());
    }

    void overcommitted(QuotaItem item) {
        overcommitted.add(item.subvolume());
    }

    /// Takes what the file system has for the truth, but for what operations are about to make of it.
    void sum(SubvolumeGroup group, Optional<GroupUsage> holdings) {
        reserved.values()
                .removeIf(each -> each.endedAt()
                        .filter(ended -> nanoTime.getAsLong() - ended > UNSURE.toNanos())
                        .isPresent());
        charges.clear();
        overcommitted.clear();
        total = BigInteger.ZERO;
        holdings.ifPresent(found -> {
            UsageCalculator.of(group, found).forEach(this::put);
            found.subvolumes().stream()
                    .filter(GroupUsage.Entry::overcommitted)
                    .forEach(entry -> overcommitted.add(entry.name()));
            account = found.standing().account().map(AccountNote::name).or(() -> account);
        });
        reserved.forEach((item, each) -> put(item, Math.max(each.bytes(), charges.getOrDefault(item, 0L))));
        summedAt = Optional.of(nanoTime.getAsLong());
    }

    /// Reserves at least what the thing has already.
    void reserve(QuotaItem item, long bytes) {
        long most = Math.max(bytes, charges.getOrDefault(item, 0L));
        reserved.put(item, new Reserved(most, Optional.empty()));
        put(item, most);
    }

    /// The thing is there, or as it was before, and counts this much.
    void commit(QuotaItem item, long bytes) {
        reserved.remove(item);
        put(item, bytes);
    }

    /// The thing is not there.
    void free(QuotaItem item) {
        reserved.remove(item);
        Long bytes = charges.remove(item);
        total = total.subtract(BigInteger.valueOf(bytes == null ? 0 : bytes));
    }

    /// The thing may be there or not, at most with this.
    void unsure(QuotaItem item, long bytes) {
        long most = Math.max(bytes, charges.getOrDefault(item, 0L));
        reserved.put(item, new Reserved(most, Optional.of(nanoTime.getAsLong())));
        put(item, most);
    }

    /// Forgets all but what is reserved, since without a limit nothing has to be known.
    void forget() {
        summedAt = Optional.empty();
        charges.keySet().retainAll(reserved.keySet());
        total = charges.values().stream().map(BigInteger::valueOf).reduce(BigInteger.ZERO, BigInteger::add);
    }

    private void put(QuotaItem item, long bytes) {
        Long before = charges.put(item, bytes);
        total = total.add(BigInteger.valueOf(bytes)).subtract(BigInteger.valueOf(before == null ? 0 : before));
    }
}
