package dev.siphon.controller.identity;

import java.util.OptionalLong;
import java.util.Set;

/// Who owns volumes, as a directory knows them: a person, or a group whose members share a project's volumes. Who
/// is in a group its members' accounts say, and no group: it may have a hundred thousand of them.
///
/// @param name the account's name now; of a group [AccountDirectory#GROUP] and the group's name
/// @param id what stays when the account is renamed, and is never given to another: for LDAP entryUUID and
///     uidNumber, of a group entryUUID and gidNumber
/// @param uid the owner of its files, an unsigned number; 0 for a group, whose files no member owns
/// @param gid the group of its files, an unsigned number
/// @param groups the names of the groups it is in; of a group its own
/// @param allowanceBytes what all its volumes together may hold, 0 for nothing at all; empty for no limit
public record Account(String name, String id, int uid, int gid, Set<String> groups, OptionalLong allowanceBytes) {
    public Account {
        groups = Set.copyOf(groups);
    }

    /// Whether it is a group, whose members share what it owns.
    public boolean isGroup() {
        return name.startsWith(AccountDirectory.GROUP);
    }

    /// Whether it may hold anything.
    public boolean mayHoldSomething() {
        return allowanceBytes.isEmpty() || allowanceBytes.getAsLong() > 0;
    }
}
