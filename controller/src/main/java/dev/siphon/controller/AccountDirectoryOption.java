package dev.siphon.controller;

import dev.siphon.controller.ldap.LdapConfig;
import java.nio.file.Path;

/// Where accounts are looked up.
public sealed interface AccountDirectoryOption {
    /// In files.
    ///
    /// @param passwd the accounts, as passwd(5)
    /// @param group their groups, as group(5)
    record InFiles(Path passwd, Path group) implements AccountDirectoryOption {}

    /// In LDAP.
    record InLdap(LdapConfig config) implements AccountDirectoryOption {}
}
