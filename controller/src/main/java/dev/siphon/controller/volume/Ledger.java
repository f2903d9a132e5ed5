package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
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

/// Decides whether an account may have more, as the one leader that everything passes through: what it has
/// committed (sizes of volumes, lengths of snapshots) and what is about to be made must fit its allowance. Reserved
/// before it is made, decided under a lock per account and file system.
///
/// The sum is kept in memory and made from the file system when an account is first used; by then the mgr, which
/// does one command after the other, has done those of a leader that died (docs/adr/0012). What may exist is never
/// freed: after an outcome that is not known the reservation stays until the file system tells.
public final class Ledger {
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
    private final Map<Group, Book> books = new ConcurrentHashMap<>();

    /// @param timeLeft what is left of the caller's deadline
    /// @param nanoTime [System#nanoTime]
    Ledger(FileTree files, Supplier<Duration> timeLeft, LongSupplier nanoTime) {
        this.files = files;
        this.timeLeft = timeLeft;
        this.nanoTime = nanoTime;
    }

    /// What is to be made or to grow.
    ///
    /// @param bytes what it is to count
    /// @param atMost what it may count should its outcome not be known
    /// @param overcommit whether bytes written are to fit instead of sizes; of a volume that exists that is known
    record Request(Group group, Item item, long bytes, long atMost, boolean overcommit) {
        static Request of(VolumeId.Provisioned volume, long bytes, boolean overcommit) {
            return new Request(Group.of(volume), Item.of(volume), bytes, bytes, overcommit);
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
    void allow(Group group, boolean exists, Account account, OptionalLong allowance) {
        with(group, book -> {
            book.account = Optional.of(account.name());
            if (!exists && !book.isSummed()) {
                book.sum(group, Optional.empty());
            }
            if (!exists || (allowance.isEmpty() && book.limit.isEmpty())) {
                book.limit = Optional.of(allowance);
                return true;
            }
            boolean kept = book.reconciled && account.allowanceBytes().isPresent();
            if (allowance.isEmpty() || kept) {
                return true;
            }
            know(group, book);
            if (!book.limit.equals(Optional.of(allowance))) {
                files.setQuotaBytes(group.cluster(), group.fileSystem(), group.path(), quota(allowance.getAsLong()));
                book.limit = Optional.of(allowance);
            }
            return true;
        });
    }

    /// The reconciler has seen to it that the group's quota is this.
    ///
    /// @param reconciled whether the directory says so
    public void inForce(Group group, OptionalLong allowance, boolean reconciled) {
        boolean _ = with(group, book -> {
            book.limit = Optional.of(allowance);
            book.reconciled = reconciled;
            return true;
        });
    }

    /// Whether an account has an allowance, which costs a look at the file system when it is not known.
    boolean isLimited(Group group) {
        return with(group, book -> {
            know(group, book);
            return book.isLimited();
        });
    }

    /// Whether a thing is known to be there and counts already.
    boolean has(Group group, Item item) {
        return with(group, book -> book.has(item));
    }

    /// Makes what is asked for if it fits. An account whose allowance is not known has none so far, see [#allow].
    ///
    /// @param make makes it, by one call that either does all or nothing
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit
    <T> T spend(Request request, Supplier<T> make) {
        return spend(request, make, Ledger::isCertain);
    }

    /// As [#spend] where several calls make it, of which some may have been done when one fails.
    <T> T spendInSteps(Request request, Supplier<T> make) {
        return spend(request, make, _ -> false);
    }

    private <T> T spend(Request request, Supplier<T> make, Predicate<DriverException> isCertain) {
        OptionalLong before = with(request.group(), book -> {
            OptionalLong charge = book.has(request.item()) ? book.charge(request.item()) : OptionalLong.empty();
            check(book, request, false);
            book.reserve(request.item(), request.bytes());
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

    /// As [#spend] for what grows, whose account may not have been used since the start.
    <T> T grow(Request request, Supplier<T> make) {
        return isLimited(request.group()) ? spend(request, make) : make.get();
    }

    /// Counts what was made with what it turned out to be.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit; it counts all the same
    ///     until it is freed
    void admit(Request request) {
        boolean _ = with(request.group(), book -> {
            try {
                check(book, request, true);
            } finally {
                book.settle(request.item(), request.bytes());
            }
            return true;
        });
    }

    private void end(Request request, OptionalLong before, boolean made, boolean refused) {
        // waits as long as it takes: a reservation must come to its end
        Book book = book(request.group());
        book.lock.lock();
        try {
            if (made && !book.isReserved(request.item())) {
                // it was settled on the way, with what it turned out to be
            } else if (made) {
                book.settle(request.item(), request.bytes());
            } else if (!refused) {
                book.unsure(request.item(), request.atMost());
            } else if (before.isPresent()) {
                book.settle(request.item(), before.getAsLong());
            } else {
                book.free(request.item());
            }
            if (made && request.overcommit()) {
                book.overcommitted(request.item());
            }
            if (!book.isLimited()) {
                book.forget();
            }
        } finally {
            book.lock.unlock();
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
    void doubt(Group group, Item item, long bytes) {
        Book book = book(group);
        book.lock.lock();
        try {
            book.unsure(item, bytes);
        } finally {
            book.lock.unlock();
        }
    }

    /// A thing is gone.
    void free(Group group, Item item) {
        Book book = books.get(group);
        if (book != null) {
            book.lock.lock();
            try {
                book.free(item);
            } finally {
                book.lock.unlock();
            }
        }
    }

    /// What an account may still commit, at least 0; empty if it may have any amount.
    ///
    /// @param otherwise its allowance if it has nothing yet
    OptionalLong left(Group group, OptionalLong otherwise, boolean overcommit) {
        return with(group, book -> {
            know(group, book);
            OptionalLong limit = book.limit.filter(OptionalLong::isPresent).orElse(otherwise);
            if (limit.isEmpty()) {
                return limit;
            }
            sumIfNot(group, book);
            long used = overcommit ? written(group, book) : book.committed();
            return OptionalLong.of(Math.max(0, limit.getAsLong() - used));
        });
    }

    /// Adds up once more what was added up when an account was first used, or what a call whose outcome is not known
    /// may have changed: should a command of a leader that died have come through late, it counts from now on.
    public void lookAgain() {
        books.forEach((group, book) -> with(group, known -> {
            if (known.isLimited() && known.isSummed() && (!known.lookedTwice || known.isUnsure())) {
                known.lookedTwice = known.isOlderThan(LATE);
                var _ = sum(group, known);
            }
            return true;
        }));
    }

    /// Adds up anew what an account has, of which something has turned out to be another size.
    void recount(Group group) {
        boolean _ = with(group, book -> book.isSummed() && sum(group, book).isPresent());
    }

    /// Counts a volume that was found, should it not be counted yet.
    void found(VolumeId.Provisioned volume, long bytes) {
        Book book = books.get(Group.of(volume));
        if (book != null) {
            boolean _ = with(Group.of(volume), known -> {
                if (known.isLimited() && known.isSummed() && !known.has(Item.of(volume))) {
                    known.settle(Item.of(volume), bytes);
                }
                return true;
            });
        }
    }

    /// @param made whether the thing is there already, and may be in a sum that the file system gave
    private void check(Book book, Request request, boolean made) {
        if (!book.isLimited()) {
            return;
        }
        sumIfNot(request.group(), book);
        if (made) {
            book.free(request.item());
        }
        boolean overcommit = request.overcommit() || book.isOvercommitted(request.item());
        if (!fits(book, request, overcommit) && book.isOlderThan(FRESH)) {
            sum(request.group(), book);
            if (made) {
                book.free(request.item());
            }
        }
        if (!fits(book, request, overcommit)) {
            throw refusal(book, request, overcommit);
        }
    }

    private boolean fits(Book book, Request request, boolean overcommit) {
        long asked = overcommit && !request.item().isSnapshot() ? 1 : growth(book, request);
        return asked <= 0 || asked <= book.limit.orElseThrow().orElseThrow() - used(book, request, overcommit);
    }

    private static long growth(Book book, Request request) {
        return request.bytes() - book.charge(request.item()).orElse(0);
    }

    private long used(Book book, Request request, boolean overcommit) {
        return overcommit ? written(request.group(), book) : book.committed();
    }

    private long written(Group group, Book book) {
        try {
            long bytes = files.writtenBytes(group.cluster(), group.fileSystem(), group.path());
            return Charges.plus(bytes, book.ofSnapshots());
        } catch (DriverException.NotFound none) {
            return 0;
        }
    }

    private DriverException refusal(Book book, Request request, boolean overcommit) {
        long limit = book.limit.orElseThrow().orElseThrow();
        long used = used(book, request, overcommit);
        String left = ByteSize.text(Math.max(0, limit - used));
        String asked = overcommit && !request.item().isSnapshot()
                ? "asked for a volume"
                : "asked for " + ByteSize.text(growth(book, request)) + (book.has(request.item()) ? " more" : "");
        return new DriverException.QuotaExhausted("account "
                + book.account.map(Quoted::of).orElse(request.group().name()) + " has " + left
                + " left of its allowance of "
                + ByteSize.text(limit) + ", " + ByteSize.text(used)
                + (overcommit ? " are written to" : " are committed to") + " volumes and snapshots; " + asked
                + ": delete volumes or snapshots, or ask the administrator for a larger allowance");
    }

    /// Sees to it that the allowance is known: the group's quota is what holds.
    private void know(Group group, Book book) {
        if (book.limit.isEmpty()) {
            Optional<Holdings> found = sum(group, book);
            OptionalLong quota = found.map(it -> it.standing().quotaBytes()).orElse(OptionalLong.empty());
            book.limit = Optional.of(quota);
            if (quota.isEmpty()) {
                book.forget();
            }
        }
    }

    private void sumIfNot(Group group, Book book) {
        if (!book.isSummed()) {
            var _ = sum(group, book);
        }
    }

    private Optional<Holdings> sum(Group group, Book book) {
        Optional<Holdings> found;
        try {
            found = Optional.of(files.holdings(group));
        } catch (DriverException.NotFound none) {
            found = Optional.empty();
        }
        book.sum(group, found);
        return found;
    }

    private Book book(Group group) {
        return books.computeIfAbsent(group, _ -> new Book(nanoTime));
    }

    @FunctionalInterface
    private interface Use<T> {
        T of(Book book);
    }

    /// Runs `use` with the account's lock, which is held while the file system is asked.
    private <T> T with(Group group, Use<T> use) {
        Book book = book(group);
        try {
            if (!book.lock.tryLock(timeLeft.get().toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.BackendUnavailable(
                        "what " + group + " holds is being added up, and Ceph has not answered yet; retry");
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
        try {
            return use.of(book);
        } finally {
            book.lock.unlock();
        }
    }
}
