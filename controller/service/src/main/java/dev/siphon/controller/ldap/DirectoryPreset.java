package dev.siphon.controller.ldap;

import dev.siphon.csi.SpellingSuggestion;
import java.util.List;
import java.util.Map;

/// The layout of accounts and groups in a common kind of directory: defaults for `accounts` and `groups` in the
/// configuration, which may override each value.
///
/// @param name the name of the preset in the configuration
record DirectoryPreset(String name, Map<String, String> accounts, Map<String, String> groups) {
    private static final Map<String, String> ANY_ACCOUNT = Map.of(
            "filter", "(objectClass=posixAccount)",
            "name", "uid",
            "id", "entryUUID",
            "uid", "uidNumber",
            "gid", "gidNumber");
    private static final Map<String, String> ANY_GROUP = Map.of(
            "filter", "(objectClass=posixGroup)",
            "name", "cn",
            "id", "entryUUID",
            "gid", "gidNumber");

    /// RFC 2307: groups with the names of their members.
    static final DirectoryPreset RFC2307 =
            new DirectoryPreset("rfc2307", Map.of(), Map.of("members", "memberUid", "membership", "names"));

    /// RFC 2307bis: groups with the DNs of their members.
    static final DirectoryPreset RFC2307BIS =
            new DirectoryPreset("rfc2307bis", Map.of(), Map.of("members", "member", "membership", "dns"));

    /// Active Directory with the attributes of RFC 2307 filled in.
    static final DirectoryPreset ACTIVE_DIRECTORY = new DirectoryPreset(
            "active-directory",
            Map.of(
                    "filter", "(&(objectCategory=person)(objectClass=user))",
                    "name", "sAMAccountName",
                    "id", "objectGUID"),
            Map.of(
                    "filter", "(objectClass=group)",
                    "name", "sAMAccountName",
                    "id", "objectGUID",
                    "members", "member",
                    "membership", "dns"));

    private static final List<DirectoryPreset> ALL = List.of(RFC2307, RFC2307BIS, ACTIVE_DIRECTORY);

    DirectoryPreset {
        accounts = Map.copyOf(accounts);
        groups = Map.copyOf(groups);
    }

    /// Returns the preset with this name.
    ///
    /// @throws IllegalArgumentException if there is none
    static DirectoryPreset of(String text) {
        return ALL.stream()
                .filter(each -> each.name.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("is not known; the nearest is \""
                        + SpellingSuggestion.to(
                                text, ALL.stream().map(DirectoryPreset::name).toList()) + "\""));
    }

    /// Returns the default of a field of `accounts`, "" if there is none.
    String account(String key) {
        return accounts.getOrDefault(key, ANY_ACCOUNT.getOrDefault(key, ""));
    }

    /// Returns the default of a field of `groups`, "" if there is none.
    String group(String key) {
        return groups.getOrDefault(key, ANY_GROUP.getOrDefault(key, ""));
    }
}
