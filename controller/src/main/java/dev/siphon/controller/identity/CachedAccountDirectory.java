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

/// Puts a short memory before a directory that is reached over a network, so that what it knows can be used while
/// it does not answer, and a slow one holds up only those who need a new answer.
///
/// Each question is put once at a time, on a thread of its own; whoever asks the same meanwhile waits for that
/// answer, at most for [DirectoryCacheLimits#patience] and the caller's deadline. Accounts that exist are kept.
/// One that is older than [DirectoryCacheLimits#fresh] is asked for again; if the directory does not answer it is
/// used up to [DirectoryCacheLimits#stale], and while the directory is known not to answer, nobody waits for it.
public final class CachedAccountDirectory implements AccountDirectory {
    private final AccountDirectory source;
    private final DirectoryCacheLimits limits;
    private final Supplier<Duration> timeLeft;
    private final LongSupplier nanoTime;
    private final Observer observer;
    private final Map<String, CachedAccount> known;
    private final Map<String, PendingLookup> questions = new ConcurrentHashMap<>();
    private volatile boolean silent;

    /// How a look-up ended.
    public enum LookupOutcome {
        /// from memory, young enough
        FRESH,
        /// the directory has it
        FOUND,
        /// the directory has no such account
        ABSENT,
        /// from memory, because the directory does not answer
        STALE,
        /// the directory does not answer, and there is nothing that may be used instead
        UNAVAILABLE,
        /// what the directory has cannot be used
        REFUSED
    }

    /// Is told of every look-up.
    @FunctionalInterface
    public interface Observer {
        /// A look-up ended after `waited`.
        void ended(LookupOutcome outcome, Duration waited);
    }

    private record CachedAccount(Account account, long since) {}

    private record PendingLookup(FutureTask<Optional<Account>> answer, long since) {}

    /// @param source may block; is called on virtual threads
    /// @param timeLeft what is left of the caller's deadline
    /// @param nanoTime a clock that only advances, as [System#nanoTime]
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
            return ended(LookupOutcome.FRESH, began, remembered.map(CachedAccount::account));
        }
        Optional<Account> usable =
                remembered.filter(it -> isYounger(it, limits.stale())).map(CachedAccount::account);
        FutureTask<Optional<Account>> question = ask(name);
        if (silent && usable.isPresent()) {
            return ended(LookupOutcome.STALE, began, usable);
        }
        try {
            Optional<Account> answer = await(question);
            return ended(answer.isPresent() ? LookupOutcome.FOUND : LookupOutcome.ABSENT, began, answer);
        } catch (DriverException.BackendUnavailable silence) {
            if (usable.isPresent()) {
                return ended(LookupOutcome.STALE, began, usable);
            }
            observer.ended(LookupOutcome.UNAVAILABLE, since(began));
            throw silence;
        } catch (DriverException.BackendFault refused) {
            observer.ended(LookupOutcome.REFUSED, since(began));
            throw refused;
        }
    }

    @Override
    public void accounts(Consumer<Account> each) {
        source.accounts(each);
    }

    /// Says whether the directory answers, from whoever found out by other means.
    public void reachable(boolean answers) {
        silent = !answers;
    }

    /// How many accounts could be used now if the directory did not answer.
    public int usable() {
        synchronized (known) {
            return (int) known.values().stream()
                    .filter(it -> isYounger(it, limits.stale()))
                    .count();
        }
    }

    private Optional<Account> ended(LookupOutcome outcome, long began, Optional<Account> answer) {
        observer.ended(outcome, since(began));
        return answer;
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

    /// Puts the question, or joins who puts it; but not one that has had its time: whether that one ever ends is
    /// up to the directory, and the next caller may be luckier.
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

    /// @param asked since when: an answer is as old as its question
    private Optional<Account> learn(String name, long asked) {
        try {
            Optional<Account> answer = source.account(name);
            silent = false;
            store(name, asked, answer);
            return answer;
        } catch (DriverException.BackendUnavailable silence) {
            silent = true;
            throw silence;
        } catch (DriverException.BackendFault refused) {
            store(name, asked, Optional.empty());
            throw refused;
        }
    }

    /// Keeps the answer, unless a later question was answered before.
    private void store(String name, long asked, Optional<Account> answer) {
        synchronized (known) {
            if (remembered(name).filter(it -> it.since() - asked > 0).isPresent()) {
                return;
            }
            if (answer.isPresent()) {
                known.put(name, new CachedAccount(answer.get(), asked));
            } else {
                known.remove(name);
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
            throw new DriverException.BackendUnavailable("interrupted while the directory was asked", stopped);
        }
    }
}
