package dev.siphon.controller.identity;

import java.util.OptionalLong;
import java.util.Set;

/// An owner of volumes, as the directory knows it: a person, or a group whose members share a project's volumes.
/// Membership is recorded at the members only, because a group may have a hundred thousand of them.
///
/// @param name the account's present name; for a group [AccountDirectory#GROUP] and the group's name
/// @param id stays the same when the account is renamed, and is never reused: in LDAP entryUUID and uidNumber, for
///     a group entryUUID and gidNumber
/// @param uid the owner of its files, an unsigned number; 0 for a group, whose files no member owns
/// @param gid the group of its files, an unsigned number
/// @param groups the names of its groups; for a group its own name
/// @param allowanceBytes how many bytes all its volumes may hold together, 0 for none; empty for no limit
public record Account(String name, String id, int uid, int gid, Set<String> groups, OptionalLong allowanceBytes) {
    public Account {
        groups = Set.copyOf(groups);
    }

    /// Whether this is a group.
    public boolean isGroup() {
        return name.startsWith(AccountDirectory.GROUP);
    }

    public boolean mayHoldSomething() {
        return allowanceBytes.isEmpty() || allowanceBytes.getAsLong() > 0;
    }
}
