package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountUsage.QuotaItem;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// Enforces allowances: an account's volume sizes, the contents of its snapshots and what is about to be created
/// must fit. Reserves the size before creating anything, under a lock per account and file system.
///
/// The sum is kept in memory, and read from the file system when an account is first used. By then the mgr has
/// finished the commands of a leader that died (docs/adr/0012). After an unknown outcome the reservation stays.
public final class AllowanceLedger {
    /// An older sum is refreshed before a request is refused: somebody may have deleted volumes or snapshots with
    /// Ceph's own commands.
    private static final Duration FRESH = Duration.ofSeconds(5);

    /// Longer than a dead controller's command can take to reach a running mgr.
    private static final Duration LATE = Duration.ofSeconds(30);

    /// Stands for an allowance of 0 bytes: to Ceph, a quota of 0 means none.
    private static final long NOTHING = 1;

    private final FileTree files;
    private final Supplier<Duration> timeLeft;
    private final LongSupplier nanoTime;
    private final Map<SubvolumeGroup, AccountUsage> books = new ConcurrentHashMap<>();

    /// @param timeLeft returns the time left until the caller's deadline
    /// @param nanoTime [System#nanoTime]
    AllowanceLedger(FileTree files, Supplier<Duration> timeLeft, LongSupplier nanoTime) {
        this.files = files;
        this.timeLeft = timeLeft;
        this.nanoTime = nanoTime;
    }

    /// A request to create or grow an item.
    ///
    /// @param bytes what the item counts on success
    /// @param atMost the most that the item may count if the outcome is unknown
    /// @param overcommit whether bytes written must fit instead of sizes; known already for an existing volume
    record Request(SubvolumeGroup group, QuotaItem item, long bytes, long atMost, boolean overcommit) {
        static Request of(VolumeId.Provisioned volume, long bytes, boolean overcommit) {
            return new Request(SubvolumeGroup.of(volume), QuotaItem.of(volume), bytes, bytes, overcommit);
        }
    }

    /// Returns the quota that enforces an allowance, in bytes.
    public static long quota(long allowance) {
        return Math.max(NOTHING, allowance);
    }

    /// Sets an account's allowance before anything is created in its group. Updates the group's quota at once,
    /// unless the reconciler maintains it.
    ///
    /// @param exists whether the group exists; if not, it holds nothing
    /// @param allowance from the account directory, else from the class
    void applyAllowance(SubvolumeGroup group, boolean exists, Account account, OptionalLong allowance) {
        with(group, usage -> {
            usage.account = Optional.of(account.name());
            if (!exists && !usage.isSummed()) {
                usage.sum(group, Optional.empty());
            }
            if (!exists || (allowance.isEmpty() && usage.limit.isEmpty())) {
                usage.limit = Optional.of(allowance);
                return true;
            }
            boolean kept = usage.reconciled && account.allowanceBytes().isPresent();
            if (allowance.isEmpty() || kept) {
                return true;
            }
            know(group, usage);
            if (!usage.limit.equals(Optional.of(allowance))) {
                files.setQuotaBytes(group.cluster(), group.fileSystem(), group.path(), quota(allowance.getAsLong()));
                usage.limit = Optional.of(allowance);
            }
            return true;
        });
    }

    /// Records the group's quota, as the reconciler has found or set it.
    ///
    /// @param reconciled whether it comes from the account directory
    public void inForce(SubvolumeGroup group, OptionalLong allowance, boolean reconciled) {
        boolean _ = with(group, usage -> {
            usage.limit = Optional.of(allowance);
            usage.reconciled = reconciled;
            return true;
        });
    }

    /// Returns whether an account has an allowance; reads the file system if that is unknown.
    boolean isLimited(SubvolumeGroup group) {
        return with(group, usage -> {
            know(group, usage);
            return usage.isLimited();
        });
    }

    /// Returns whether an item certainly exists and is counted.
    boolean has(SubvolumeGroup group, QuotaItem item) {
        return with(group, usage -> usage.has(item));
    }

    /// Creates an item if it fits. An account without a known allowance is not limited, see [#applyAllowance].
    ///
    /// @param make creates the item by one call that does all or nothing
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit
    <T> T reserve(Request request, Supplier<T> make) {
        return reserve(request, make, AllowanceLedger::isCertain);
    }

    /// As [#reserve], for several calls: if one fails, earlier ones may have taken effect.
    <T> T reserveInSteps(Request request, Supplier<T> make) {
        return reserve(request, make, _ -> false);
    }

    private <T> T reserve(Request request, Supplier<T> make, Predicate<DriverException> isCertain) {
        OptionalLong before = with(request.group(), usage -> {
            OptionalLong charge = usage.has(request.item()) ? usage.charge(request.item()) : OptionalLong.empty();
            check(usage, request, false);
            usage.reserve(request.item(), request.bytes());
            return charge;
        });
        boolean refused = false;
        boolean made = false;
        try {
            T result = make.get();
            made = true;
            return result;
        } catch (DriverException e) {
            refused = isCertain.test(e);
            throw e;
        } finally {
            end(request, before, made, refused);
        }
    }

    /// As [#reserve], to grow an item; first reads the allowance of an account that was not used since the start.
    <T> T grow(Request request, Supplier<T> make) {
        return isLimited(request.group()) ? reserve(request, make) : make.get();
    }

    /// Counts an existing item with its real size.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit; it still counts until it is
    ///     freed
    void admit(Request request) {
        boolean _ = with(request.group(), usage -> {
            try {
                check(usage, request, true);
            } finally {
                usage.commit(request.item(), request.bytes());
            }
            return true;
        });
    }

    private void end(Request request, OptionalLong before, boolean made, boolean refused) {
        // waits without limit: every reservation must end
        AccountUsage usage = book(request.group());
        usage.lock.lock();
        try {
            if (made && !usage.isReserved(request.item())) {
                // already counted with its real size
            } else if (made) {
                usage.commit(request.item(), request.bytes());
            } else if (!refused) {
                usage.unsure(request.item(), request.atMost());
            } else if (before.isPresent()) {
                usage.commit(request.item(), before.getAsLong());
            } else {
                usage.free(request.item());
            }
            if (made && request.overcommit()) {
                usage.overcommitted(request.item());
            }
            if (!usage.isLimited()) {
                usage.forget();
            }
        } finally {
            usage.lock.unlock();
        }
    }

    /// Returns whether the error proves that Ceph changed nothing.
    private static boolean isCertain(DriverException e) {
        return switch (e) {
            case DriverException.InvalidRequest _,
                    DriverException.NotFound _,
                    DriverException.IncompatibleExisting _,
                    DriverException.InUse _,
                    DriverException.CapacityOutOfRange _,
                    DriverException.QuotaExhausted _,
                    DriverException.AccessDenied _,
                    DriverException.Unsupported _ -> true;
            case DriverException.OperationPending _,
                    DriverException.BackendUnavailable _,
                    DriverException.DeadlinePassed _,
                    DriverException.BackendFault _ -> false;
        };
    }

    /// Counts an item that may or may not exist, until the file system shows whether it does.
    void markUncertain(SubvolumeGroup group, QuotaItem item, long bytes) {
        AccountUsage usage = book(group);
        usage.lock.lock();
        try {
            usage.unsure(item, bytes);
        } finally {
            usage.lock.unlock();
        }
    }

    /// Stops counting an item that is gone.
    void free(SubvolumeGroup group, QuotaItem item) {
        AccountUsage usage = books.get(group);
        if (usage != null) {
            usage.lock.lock();
            try {
                usage.free(item);
            } finally {
                usage.lock.unlock();
            }
        }
    }

    /// Returns how many bytes an account may still commit, at least 0; empty for any amount.
    ///
    /// @param otherwise the allowance if the group has no quota
    OptionalLong left(SubvolumeGroup group, OptionalLong otherwise, boolean overcommit) {
        return with(group, usage -> {
            know(group, usage);
            OptionalLong limit = usage.limit.filter(OptionalLong::isPresent).orElse(otherwise);
            if (limit.isEmpty()) {
                return limit;
            }
            sumIfNot(group, usage);
            long used = overcommit ? written(group, usage) : usage.committed();
            return OptionalLong.of(Math.max(0, limit.getAsLong() - used));
        });
    }

    /// Sums the usage of limited accounts again: once after their first use, and while an outcome is unknown. This
    /// also counts what a late command of a dead leader created.
    public void lookAgain() {
        books.forEach((group, usage) -> with(group, known -> {
            if (known.isLimited() && known.isSummed() && (!known.lookedTwice || known.isUnsure())) {
                known.lookedTwice = known.isOlderThan(LATE);
                var _ = sum(group, known);
            }
            return true;
        }));
    }

    /// Sums an account's usage again after an item turned out to have another size.
    void recount(SubvolumeGroup group) {
        boolean _ = with(group, usage -> usage.isSummed() && sum(group, usage).isPresent());
    }

    /// Counts an existing volume if it is not counted yet.
    void recordExisting(VolumeId.Provisioned volume, long bytes) {
        AccountUsage usage = books.get(SubvolumeGroup.of(volume));
        if (usage != null) {
            boolean _ = with(SubvolumeGroup.of(volume), known -> {
                if (known.isLimited() && known.isSummed() && !known.has(QuotaItem.of(volume))) {
                    known.commit(QuotaItem.of(volume), bytes);
                }
                return true;
            });
        }
    }

    /// @param made whether the item exists already, so that a sum from the file system may include it
    private void check(AccountUsage usage, Request request, boolean made) {
        if (!usage.isLimited()) {
            return;
        }
        sumIfNot(request.group(), usage);
        if (made) {
            usage.free(request.item());
        }
        boolean overcommit = request.overcommit() || usage.isOvercommitted(request.item());
        if (!fits(usage, request, overcommit) && usage.isOlderThan(FRESH)) {
            sum(request.group(), usage);
            if (made) {
                usage.free(request.item());
            }
        }
        if (!fits(usage, request, overcommit)) {
            throw refusal(usage, request, overcommit);
        }
    }

    private boolean fits(AccountUsage usage, Request request, boolean overcommit) {
        long asked = overcommit && !request.item().isSnapshot() ? 1 : growth(usage, request);
        return asked <= 0 || asked <= usage.limit.orElseThrow().orElseThrow() - used(usage, request, overcommit);
    }

    private static long growth(AccountUsage usage, Request request) {
        return request.bytes() - usage.charge(request.item()).orElse(0);
    }

    private long used(AccountUsage usage, Request request, boolean overcommit) {
        return overcommit ? written(request.group(), usage) : usage.committed();
    }

    private long written(SubvolumeGroup group, AccountUsage usage) {
        long bytes = files.writtenBytes(group.cluster(), group.fileSystem(), group.path());
        return UsageCalculator.plus(bytes, usage.ofSnapshots());
    }

    private DriverException refusal(AccountUsage usage, Request request, boolean overcommit) {
        long limit = usage.limit.orElseThrow().orElseThrow();
        long used = used(usage, request, overcommit);
        String left = ByteSize.text(Math.max(0, limit - used));
        String asked = overcommit && !request.item().isSnapshot()
                ? "asked for a volume"
                : "asked for " + ByteSize.text(growth(usage, request)) + (usage.has(request.item()) ? " more" : "");
        return new DriverException.QuotaExhausted("account "
                + usage.account.map(QuotedText::of).orElse(request.group().name()) + " has " + left
                + " left of its allowance of "
                + ByteSize.text(limit) + ", " + ByteSize.text(used)
                + (overcommit ? " are written to" : " are committed to") + " volumes and snapshots; " + asked
                + ": delete volumes or snapshots, or ask the administrator for a larger allowance");
    }

    /// Reads the allowance from the group's quota if it is unknown.
    private void know(SubvolumeGroup group, AccountUsage usage) {
        if (usage.limit.isEmpty()) {
            Optional<GroupUsage> found = sum(group, usage);
            OptionalLong quota = found.map(it -> it.standing().quotaBytes()).orElse(OptionalLong.empty());
            usage.limit = Optional.of(quota);
            if (quota.isEmpty()) {
                usage.forget();
            }
        }
    }

    private void sumIfNot(SubvolumeGroup group, AccountUsage usage) {
        if (!usage.isSummed()) {
            var _ = sum(group, usage);
        }
    }

    private Optional<GroupUsage> sum(SubvolumeGroup group, AccountUsage usage) {
        Optional<GroupUsage> found;
        try {
            found = Optional.of(files.holdings(group));
        } catch (DriverException.NotFound none) {
            found = Optional.empty();
        }
        usage.sum(group, found);
        return found;
    }

    private AccountUsage book(SubvolumeGroup group) {
        return books.computeIfAbsent(group, _ -> new AccountUsage(nanoTime));
    }

    @FunctionalInterface
    private interface UsageUpdate<T> {
        T of(AccountUsage usage);
    }

    /// Runs `use` under the account's lock, which stays held while the file system is read.
    private <T> T with(SubvolumeGroup group, UsageUpdate<T> use) {
        AccountUsage usage = book(group);
        try {
            if (!usage.lock.tryLock(timeLeft.get().toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.BackendUnavailable(
                        "the usage of " + group + " is still being added up: Ceph has not answered yet; retry");
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
        try {
            return use.of(usage);
        } finally {
            usage.lock.unlock();
        }
    }
}
