package dev.siphon.controller.identity;

import java.util.Optional;
import java.util.function.Consumer;

/// Port: the directory that knows the accounts.
public interface AccountDirectory {
    /// What the name of an account begins with that is a group: `group:vision`. No person's name does.
    String GROUP = "group:";

    /// The account of that name; empty if there is none. The name is compared exactly: no wildcard, no other case,
    /// no look-alike. An answer may be as old as the directory's configuration allows.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it has several accounts of that name, or
    ///     one that cannot own files: somebody has to mend the directory
    Optional<Account> account(String name);

    /// Hands every account to `each`, people and groups, as the directory has them now; an account may be handed
    /// over twice. One that cannot own files is left out, and so may be the groups of people, which can be many.
    /// May take minutes: nothing for a caller to wait for.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer;
    ///     what was handed over until then is not all
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it is larger than memory is for
    void accounts(Consumer<Account> each);

    /// What an administrator should know of the directory although the driver works: that it does not answer, and
    /// how long what is known of it is still used. Empty if all is well. Never waits.
    default Optional<String> remark() {
        return Optional.empty();
    }
}
