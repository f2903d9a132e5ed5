package dev.siphon.controller.identity;

import java.util.Optional;
import java.util.function.Consumer;

/// Port: the directory of accounts.
public interface AccountDirectory {
    /// The prefix of a group's account name: `group:vision`. No person's name has it.
    String GROUP = "group:";

    /// Returns the account of that name; empty if there is none. Compares names exactly: no wildcards, no case
    /// folding, no normalization. The result may be as old as the directory's configuration allows.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it has several accounts of that name, or
    ///     one that cannot own files; an administrator must correct the directory
    Optional<Account> account(String name);

    /// Passes every account to `each`, people and groups, by the directory's present state. May pass an account
    /// twice. Skips accounts that cannot own files, and may skip the groups of people, because there can be many.
    /// May take minutes, so no RPC should wait for it.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer;
    ///     then only some accounts were passed
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it does not fit in the memory limit
    void accounts(Consumer<Account> each);

    /// Returns a warning about the directory that does not stop the driver: that it does not answer, and how long
    /// cached accounts still serve. Empty if there is none. Never blocks.
    default Optional<String> remark() {
        return Optional.empty();
    }
}
