package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import java.util.Optional;

/// What is written on a group's directory so that people know whose it is, also when the directory of accounts no
/// longer does: a group's name is a digest of what never changes. Nothing is decided by it that the directory does not
/// confirm.
///
/// @param uid the account's uid, of a project group the gid
/// @param name the account's name when this was written
public record AccountNote(String uid, String name) {
    /// What the note is called, see [FileTree#note].
    public static final String NAME = "account";

    /// What is to be written of an account.
    public static AccountNote of(Account account) {
        return new AccountNote(
                Integer.toUnsignedString(account.isGroup() ? account.gid() : account.uid()), account.name());
    }

    /// Reads one; empty if somebody else wrote something else there.
    public static Optional<AccountNote> parse(String text) {
        int blank = text.indexOf(' ');
        return blank > 0 && blank < text.length() - 1
                ? Optional.of(new AccountNote(text.substring(0, blank), text.substring(blank + 1)))
                : Optional.empty();
    }

    /// As it is written.
    public String text() {
        return uid + " " + name;
    }
}
