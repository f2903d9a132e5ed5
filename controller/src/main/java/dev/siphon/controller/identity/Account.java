package dev.siphon.controller.identity;

import java.util.OptionalLong;
import java.util.Set;

/// Who owns volumes, as a directory knows them.
///
/// @param name the account's name now
/// @param id what stays when the account is renamed, and is never given to another: for LDAP entryUUID and
///     uidNumber
/// @param uid the owner of its files
/// @param gid the group of its files
/// @param groups the names of the groups it is in
/// @param allowanceBytes what all its volumes together may hold; empty for no limit
public record Account(String name, String id, int uid, int gid, Set<String> groups, OptionalLong allowanceBytes) {
    public Account {
        groups = Set.copyOf(groups);
    }
}
