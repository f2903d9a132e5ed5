package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
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

/// Tracks what one account has committed in one file system. Callers hold its lock.
final class AccountUsage {
    /// How long after its end a call with an unknown outcome may still take effect: several times the adapter's
    /// limit for a lost call.
    private static final Duration UNSURE = Duration.ofMinutes(10);

    final ReentrantLock lock = new ReentrantLock();

    /// The allowance: the outer Optional is empty while it is unknown, the inner one if there is no limit.
    Optional<OptionalLong> limit = Optional.empty();

    /// Whether the limit comes from the account directory, so that the reconciler maintains it.
    boolean reconciled;

    Optional<String> account = Optional.empty();

    /// Whether the usage was summed again, late enough after the account's first use.
    boolean lookedTwice;

    private final Map<QuotaItem, Long> charges = new HashMap<>();
    private final Map<QuotaItem, Reserved> reserved = new HashMap<>();
    private final Set<String> overcommitted = new HashSet<>();
    private final LongSupplier nanoTime;

    /// Wider than a long: with overcommit, sizes may add up to more than a long holds, and be subtracted again.
    private BigInteger total = BigInteger.ZERO;

    private Optional<Long> summedAt = Optional.empty();

    /// The reservation of an operation that has not succeeded.
    ///
    /// @param endedAt when it failed with an unknown outcome; empty while it runs
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

    /// Returns whether the file system was last read at least this long ago, or never.
    boolean isOlderThan(Duration age) {
        return summedAt.filter(at -> nanoTime.getAsLong() - at < age.toNanos()).isEmpty();
    }

    /// Returns the sum of all charges in bytes, reservations included; [Long#MAX_VALUE] if it is more.
    long committed() {
        return total.bitLength() < Long.SIZE ? total.longValue() : Long.MAX_VALUE;
    }

    /// Returns the part of the sum that snapshots contribute, in bytes.
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

    /// Returns whether the outcome of any operation is unknown.
    boolean isUnsure() {
        return reserved.values().stream().anyMatch(each -> each.endedAt().isPresent());
    }

    /// Returns whether an operation on the item still runs, or its outcome is unknown.
    boolean isReserved(QuotaItem item) {
        return reserved.containsKey(item);
    }

    /// Returns whether the item certainly exists, and is not just reserved.
    boolean has(QuotaItem item) {
        return charges.containsKey(item) && !reserved.containsKey(item);
    }

    boolean isOvercommitted(QuotaItem item) {
        return overcommitted.contains(item.subvolume());
    }

    void overcommitted(QuotaItem item) {
        overcommitted.add(item.subvolume());
    }

    /// Replaces all charges by what the file system holds. A reserved item counts whichever is larger.
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

    /// Reserves `bytes`, or what the item already counts if that is more.
    void reserve(QuotaItem item, long bytes) {
        long most = Math.max(bytes, charges.getOrDefault(item, 0L));
        reserved.put(item, new Reserved(most, Optional.empty()));
        put(item, most);
    }

    /// Ends the reservation: the item exists and counts this much.
    void commit(QuotaItem item, long bytes) {
        reserved.remove(item);
        put(item, bytes);
    }

    /// Ends the reservation: the item does not exist.
    void free(QuotaItem item) {
        reserved.remove(item);
        Long bytes = charges.remove(item);
        total = total.subtract(BigInteger.valueOf(bytes == null ? 0 : bytes));
    }

    /// Keeps the reservation of an item that may or may not exist; it counts at most this much.
    void unsure(QuotaItem item, long bytes) {
        long most = Math.max(bytes, charges.getOrDefault(item, 0L));
        reserved.put(item, new Reserved(most, Optional.of(nanoTime.getAsLong())));
        put(item, most);
    }

    /// Drops all charges except reservations: without a limit, nothing else needs to be known.
    void forget() {
        summedAt = Optional.empty();
        charges.keySet().retainAll(reserved.keySet());
        total = charges.values().stream().map(BigInteger::valueOf).reduce(BigInteger.ZERO, BigInteger::add);
    }

    private void put(QuotaItem item, long bytes) {
        Long before = charges.put(item, bytes);
        total = total.add(BigInteger.valueOf(bytes)).subtract(BigInteger.valueOf(before == null ? 0 : before));
    }

    /// A volume or snapshot that counts against an allowance.
    ///
    /// @param subvolume the volume's name in its group
    /// @param snapshot the snapshot's name; empty for the volume itself
    record QuotaItem(String subvolume, String snapshot) {
        static QuotaItem of(VolumeId.Provisioned volume) {
            return new QuotaItem(volume.subvolume(), "");
        }

        static QuotaItem of(SnapshotId snapshot) {
            return new QuotaItem(snapshot.volume().subvolume(), snapshot.name());
        }

        boolean isSnapshot() {
            return !snapshot.isEmpty();
        }
    }
}
