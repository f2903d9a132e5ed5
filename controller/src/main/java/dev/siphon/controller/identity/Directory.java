package dev.siphon.controller.identity;

import java.util.Optional;

/// Port: the directory that knows the accounts.
public interface Directory {
    /// The account of that name; empty if there is none. The name is compared exactly: no wildcard, no other case.
    ///
    /// @throws DriverException.BackendUnavailable if the directory does not answer
    Optional<Account> account(String name);
}
