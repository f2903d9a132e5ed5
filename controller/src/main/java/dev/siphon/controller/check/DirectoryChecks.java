package dev.siphon.controller.check;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.ldap.LdapAdapter;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.check.Checklist;
import dev.siphon.csi.check.Outcome;
import java.util.Optional;
import java.util.TreeSet;

/// Looks at the directory, and at an account that somebody knows to be there.
///
/// @param sample the account's name, or `group:NAME`; empty for none
public record DirectoryChecks(Directory directory, Optional<String> sample) {
    /// Asked for to see whether anybody answers; need not be there.
    private static final String ANYBODY = "siphon-check";

    /// Looks at both.
    public void look(Checklist list) {
        var answer = list.look(
                "directory", DirectoryChecks::remedy, () -> directory.account(ANYBODY), _ -> new Outcome.Ok("answers"));
        if (sample.isEmpty()) {
            list.note("account", new Outcome.Skipped("--account names none"));
        } else if (answer.isEmpty()) {
            list.note("account", new Outcome.Skipped("the directory does not answer"));
        } else {
            String name = sample.get();
            var _ = list.look(
                    "account", DirectoryChecks::remedy, () -> directory.account(name), account -> judge(name, account));
        }
    }

    private static String remedy(DriverException failure) {
        return failure instanceof DriverException.BackendFault
                ? "mend the entry that is named"
                : LdapAdapter.remedy(failure);
    }

    private static Outcome judge(String name, Optional<Account> account) {
        return account.<Outcome>map(found -> new Outcome.Ok(words(found)))
                .orElseGet(() -> new Outcome.Failed(
                        "there is no " + Quoted.of(name),
                        "spelt as in the directory, letter for letter? In LDAP it has to be below `accounts.base` and"
                                + " to match `accounts.filter`"));
    }

    private static String words(Account account) {
        return account.name() + ": uid " + Integer.toUnsignedString(account.uid()) + ", gid "
                + Integer.toUnsignedString(account.gid()) + ", groups " + new TreeSet<>(account.groups())
                + ", allowance "
                + (account.allowanceBytes().isPresent()
                        ? ByteSize.text(account.allowanceBytes().getAsLong())
                        : "none");
    }
}
