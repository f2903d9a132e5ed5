package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import java.util.Optional;

/// The note on a group's directory that names the account, because the group's own name is only a digest of the
/// account's id. With it, people can identify the owner even after the account has left the account directory. Code
/// trusts the note only if the account directory confirms it.
///
/// @param uid the account's uid; the gid for a project group
/// @param name the account's name at the time of writing
public record AccountNote(String uid, String name) {
    /// Name of the note, see [FileTree#note].
    public static final String NAME = "account";

    /// Returns the note for an account.
    public static AccountNote of(Account account) {
        return new AccountNote(
                Integer.toUnsignedString(account.isGroup() ? account.gid() : account.uid()), account.name());
    }

    /// Parses a note; empty if the text has another form.
    public static Optional<AccountNote> parse(String text) {
        int blank = text.indexOf(' ');
        return blank > 0 && blank < text.length() - 1
                ? Optional.of(new AccountNote(text.substring(0, blank), text.substring(blank + 1)))
                : Optional.empty();
    }

    /// Returns the text that [#parse] reads.
    public String text() {
        return uid + " " + name;
    }
}
