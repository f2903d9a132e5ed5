package dev.siphon.controller.identity;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Caches the accounts of a directory that is reached over the network. Cached accounts serve while it does not
/// answer, and a slow directory delays only lookups that are not cached.
///
/// Each lookup runs once at a time, on a thread of its own. Concurrent callers wait for the same result, at most
/// for [DirectoryCacheLimits#patience] and their own deadline. Only existing accounts are cached. An account older
/// than [DirectoryCacheLimits#fresh] is looked up again. If the directory does not answer, it serves until
/// [DirectoryCacheLimits#stale]. While the directory is known not to answer, nobody waits for it.
public final class CachedAccountDirectory implements AccountDirectory {
    private final AccountDirectory source;
    private final DirectoryCacheLimits limits;
    private final Supplier<Duration> timeLeft;
    private final LongSupplier nanoTime;
    private final Observer observer;
    private final Map<String, CachedAccount> known;
    private final Map<String, PendingLookup> questions = new ConcurrentHashMap<>();
    private volatile boolean silent;

    /// The result of a lookup.
    public enum LookupOutcome {
        /// cached, and younger than the fresh time
        FRESH,
        /// found in the directory
        FOUND,
        /// not in the directory
        ABSENT,
        /// cached, because the directory does not answer
        STALE,
        /// the directory does not answer, and nothing usable is cached
        UNAVAILABLE,
        /// the directory's entry is not usable
        REFUSED
    }

    /// Observes every lookup.
    @FunctionalInterface
    public interface Observer {
        /// Reports that a lookup ended after `waited`.
        void ended(LookupOutcome outcome, Duration waited);
    }

    private record CachedAccount(Account account, long since) {}

    private record PendingLookup(FutureTask<Optional<Account>> answer, long since) {}

    /// @param source may block; runs on virtual threads
    /// @param timeLeft the rest of the caller's deadline
    /// @param nanoTime a monotonic clock, as [System#nanoTime]
    public CachedAccountDirectory(
            AccountDirectory source,
            DirectoryCacheLimits limits,
            Supplier<Duration> timeLeft,
            LongSupplier nanoTime,
            Observer observer) {
        this.source = source;
        this.limits = limits;
        this.timeLeft = timeLeft;
        this.nanoTime = nanoTime;
        this.observer = observer;
        this.known = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, CachedAccount> eldest) {
                return size() > limits.entries();
            }
        };
    }

    @Override
    public Optional<Account> account(String name) {
        long began = nanoTime.getAsLong();
        Optional<CachedAccount> remembered = remembered(name);
        if (remembered.filter(it -> isYounger(it, limits.fresh())).isPresent()) {
            observer.ended(LookupOutcome.FRESH, since(began));
            return remembered.map(CachedAccount::account);
        }
        Optional<Account> usable =
                remembered.filter(it -> isYounger(it, limits.stale())).map(CachedAccount::account);
        FutureTask<Optional<Account>> question = ask(name);
        if (silent && usable.isPresent()) {
            observer.ended(LookupOutcome.STALE, since(began));
            return usable;
        }
        try {
            Optional<Account> answer = await(question);
            observer.ended(answer.isPresent() ? LookupOutcome.FOUND : LookupOutcome.ABSENT, since(began));
            return answer;
        } catch (DriverException.BackendUnavailable silence) {
            observer.ended(usable.isPresent() ? LookupOutcome.STALE : LookupOutcome.UNAVAILABLE, since(began));
            if (usable.isEmpty()) {
                throw silence;
            }
            return usable;
        } catch (DriverException.BackendFault refused) {
            observer.ended(LookupOutcome.REFUSED, since(began));
            throw refused;
        }
    }

    @Override
    public void accounts(Consumer<Account> each) {
        source.accounts(each);
    }

    /// Sets whether the directory answers, for a caller that found out by other means.
    public void reachable(boolean answers) {
        silent = !answers;
    }

    /// Returns how many cached accounts would serve now if the directory did not answer.
    public int usable() {
        synchronized (known) {
            return (int) known.values().stream()
                    .filter(it -> isYounger(it, limits.stale()))
                    .count();
        }
    }

    private Duration since(long began) {
        return Duration.ofNanos(nanoTime.getAsLong() - began);
    }

    private Optional<CachedAccount> remembered(String name) {
        synchronized (known) {
            return Optional.ofNullable(known.get(name));
        }
    }

    private boolean isYounger(CachedAccount entry, Duration age) {
        return nanoTime.getAsLong() - entry.since() < age.toNanos();
    }

    /// Starts the lookup, or joins a running one. Unlike [dev.siphon.csi.DeadlineExecutor], it does not join
    /// one that has run for the patience already: it may never end, and a new one may succeed.
    private FutureTask<Optional<Account>> ask(String name) {
        long now = nanoTime.getAsLong();
        PendingLookup mine = new PendingLookup(new FutureTask<>(() -> learn(name, now)), now);
        PendingLookup current =
                questions.compute(name, (_, running) -> running != null && isJoined(running, now) ? running : mine);
        if (current.answer().equals(mine.answer())) {
            Thread.ofVirtual().name("directory").start(() -> {
                mine.answer().run();
                questions.remove(name, mine);
            });
        }
        return current.answer();
    }

    private boolean isJoined(PendingLookup running, long now) {
        return !running.answer().isDone()
                && now - running.since() < limits.patience().toNanos();
    }

    /// @param asked when the lookup began, which counts as the age of its result
    private Optional<Account> learn(String name, long asked) {
        // another lookup may have ended since the caller found nothing fresh
        Optional<CachedAccount> meanwhile = remembered(name).filter(it -> isYounger(it, limits.fresh()));
        if (meanwhile.isPresent()) {
            return meanwhile.map(CachedAccount::account);
        }
        try {
            Optional<Account> answer = source.account(name);
            silent = false;
            answer.ifPresentOrElse(
                    account -> update(name, asked, () -> known.put(name, new CachedAccount(account, asked))),
                    () -> update(name, asked, () -> known.remove(name)));
            return answer;
        } catch (DriverException.BackendUnavailable silence) {
            silent = true;
            throw silence;
        } catch (DriverException.BackendFault refused) {
            update(name, asked, () -> known.remove(name));
            throw refused;
        }
    }

    /// Applies a change to the cache, unless a later lookup has finished already.
    private void update(String name, long asked, Runnable change) {
        synchronized (known) {
            if (remembered(name).filter(it -> it.since() - asked > 0).isEmpty()) {
                change.run();
            }
        }
    }

    private Optional<Account> await(FutureTask<Optional<Account>> question) {
        Duration left = timeLeft.get();
        Duration wait = left.compareTo(limits.patience()) < 0 ? left : limits.patience();
        try {
            return question.get(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException slow) {
            throw new DriverException.BackendUnavailable(
                    "the directory has not answered within " + wait.toMillis() + " ms; retry", slow);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException known ? known : new IllegalStateException(failed);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the lookup in the directory was interrupted", stopped);
        }
    }
}
