package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
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

/// Decides whether an account may have more: sizes of its volumes, lengths of its snapshots, and what is about to be
/// created must fit its allowance. Reserves the size first, under a lock per account and file system.
///
/// The sum is in memory. It is read from the file system when an account is first used; by then the mgr has finished
/// the commands of a leader that died (docs/adr/0012). After an unknown outcome the reservation stays.
public final class AllowanceLedger {
    /// Before an account is refused, what is known must not be older than this: somebody may have removed things
    /// with Ceph's own commands.
    private static final Duration FRESH = Duration.ofSeconds(5);

    /// Longer than a command of a controller that died can be on its way to a mgr that runs.
    private static final Duration LATE = Duration.ofSeconds(30);

    /// To Ceph a quota of 0 would be none.
    private static final long NOTHING = 1;

    private final FileTree files;
    private final Supplier<Duration> timeLeft;
    private final LongSupplier nanoTime;
    private final Map<SubvolumeGroup, AccountUsage> books = new ConcurrentHashMap<>();

    /// @param timeLeft what is left of the caller's deadline
    /// @param nanoTime [System#nanoTime]
    AllowanceLedger(FileTree files, Supplier<Duration> timeLeft, LongSupplier nanoTime) {
        this.files = files;
        this.timeLeft = timeLeft;
        this.nanoTime = nanoTime;
    }

    /// What is to be made or to grow.
    ///
    /// @param bytes what it is to count
    /// @param atMost what it may count should its outcome not be known
    /// @param overcommit whether bytes written are to fit instead of sizes; of a volume that exists that is known
    record Request(SubvolumeGroup group, QuotaItem item, long bytes, long atMost, boolean overcommit) {
        static Request of(VolumeId.Provisioned volume, long bytes, boolean overcommit) {
            return new Request(SubvolumeGroup.of(volume), QuotaItem.of(volume), bytes, bytes, overcommit);
        }
    }

    /// The quota that enforces an allowance.
    public static long quota(long allowance) {
        return Math.max(NOTHING, allowance);
    }

    /// Says what the account of a group may have, before something is made there for it: what the directory gives
    /// it, else what the class gives everybody. The group follows at once if the reconciler has not seen to it.
    ///
    /// @param exists whether there is such a group; if not, nothing is in it
    /// @param allowance what the directory gives the account, else what the class gives everybody
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

    /// The reconciler has seen to it that the group's quota is this.
    ///
    /// @param reconciled whether the directory says so
    public void inForce(SubvolumeGroup group, OptionalLong allowance, boolean reconciled) {
        boolean _ = with(group, usage -> {
            usage.limit = Optional.of(allowance);
            usage.reconciled = reconciled;
            return true;
        });
    }

    /// Whether an account has an allowance, which costs a look at the file system when it is not known.
    boolean isLimited(SubvolumeGroup group) {
        return with(group, usage -> {
            know(group, usage);
            return usage.isLimited();
        });
    }

    /// Whether a thing is known to be there and counts already.
    boolean has(SubvolumeGroup group, QuotaItem item) {
        return with(group, usage -> usage.has(item));
    }

    /// Makes what is asked for if it fits. An account whose allowance is not known has none so far, see
    /// [#applyAllowance].
    ///
    /// @param make makes it, by one call that either does all or nothing
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit
    <T> T reserve(Request request, Supplier<T> make) {
        return reserve(request, make, AllowanceLedger::isCertain);
    }

    /// As [#reserve] where several calls make it, of which some may have been done when one fails.
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

    /// As [#reserve] for what grows, whose account may not have been used since the start.
    <T> T grow(Request request, Supplier<T> make) {
        return isLimited(request.group()) ? reserve(request, make) : make.get();
    }

    /// Counts what was made with what it turned out to be.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit; it counts all the same
    ///     until it is freed
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
        // waits as long as it takes: a reservation must come to its end
        AccountUsage usage = book(request.group());
        usage.lock.lock();
        try {
            if (made && !usage.isReserved(request.item())) {
                // it was settled on the way, with what it turned out to be
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

    /// Whether Ceph said that nothing was done.
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

    /// Nobody knows whether a thing is there; it counts this much until the file system tells.
    void markUncertain(SubvolumeGroup group, QuotaItem item, long bytes) {
        AccountUsage usage = book(group);
        usage.lock.lock();
        try {
            usage.unsure(item, bytes);
        } finally {
            usage.lock.unlock();
        }
    }

    /// A thing is gone.
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

    /// What an account may still commit, at least 0; empty if it may have any amount.
    ///
    /// @param otherwise its allowance if it has nothing yet
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

    /// Adds up once more what was added up when an account was first used, or what a call whose outcome is not
    /// known may have changed: should a command of a leader that died have come through late, it counts from now
    /// on.
    public void lookAgain() {
        books.forEach((group, usage) -> with(group, known -> {
            if (known.isLimited() && known.isSummed() && (!known.lookedTwice || known.isUnsure())) {
                known.lookedTwice = known.isOlderThan(LATE);
                var _ = sum(group, known);
            }
            return true;
        }));
    }

    /// Adds up anew what an account has, of which something has turned out to be another size.
    void recount(SubvolumeGroup group) {
        boolean _ = with(group, usage -> usage.isSummed() && sum(group, usage).isPresent());
    }

    /// Counts a volume that was found, should it not be counted yet.
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

    /// @param made whether the thing is there already, and may be in a sum that the file system gave
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
        try {
            long bytes = files.writtenBytes(group.cluster(), group.fileSystem(), group.path());
            return UsageCalculator.plus(bytes, usage.ofSnapshots());
        } catch (DriverException.NotFound none) {
            return 0;
        }
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

    /// Sees to it that the allowance is known: the group's quota is what holds.
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

    /// Runs `use` with the account's lock, which is held while the file system is asked.
    private <T> T with(SubvolumeGroup group, UsageUpdate<T> use) {
        AccountUsage usage = book(group);
        try {
            if (!usage.lock.tryLock(timeLeft.get().toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.BackendUnavailable(
                        "what " + group + " holds is being added up, and Ceph has not answered yet; retry");
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
