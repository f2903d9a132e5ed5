package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// A directory that a test can change.
public final class InMemoryDirectory implements AccountDirectory {
    private final Map<String, Account> accounts;
    private volatile boolean down;

    public InMemoryDirectory(Map<String, Account> accounts) {
        this(new ConcurrentHashMap<>(accounts));
    }

    private InMemoryDirectory(ConcurrentHashMap<String, Account> accounts) {
        this.accounts = accounts;
    }

    /// Returns a directory that always reflects `accounts`.
    public static InMemoryDirectory over(ConcurrentHashMap<String, Account> accounts) {
        return new InMemoryDirectory(accounts);
    }

    /// Adds or replaces an account.
    public void put(Account account) {
        accounts.put(account.name(), account);
    }

    public void remove(String name) {
        accounts.remove(name);
    }

    /// Sets whether it fails to reply.
    public void down(boolean isDown) {
        down = isDown;
    }

    @Override
    public Optional<Account> account(String name) {
        checkUp();
        return Optional.ofNullable(accounts.get(name));
    }

    @Override
    public void accounts(Consumer<Account> each) {
        checkUp();
        accounts.values().forEach(each);
    }

    private void checkUp() {
        if (down) {
            throw new DriverException.BackendUnavailable("the directory is down");
        }
    }
}
