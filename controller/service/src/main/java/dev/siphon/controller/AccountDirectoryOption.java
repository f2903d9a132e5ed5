package dev.siphon.controller;

import dev.siphon.controller.ldap.LdapConfig;
import java.nio.file.Path;

/// The configured directory of accounts.
public sealed interface AccountDirectoryOption {
    /// Files.
    ///
    /// @param passwd the accounts, as passwd(5)
    /// @param group their groups, as group(5)
    record InFiles(Path passwd, Path group) implements AccountDirectoryOption {}

    /// LDAP.
    record InLdap(LdapConfig config) implements AccountDirectoryOption {}
}
