package dev.siphon.controller.check;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.ldap.LdapAdapter;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import java.util.Optional;
import java.util.TreeSet;

/// Checks the directory, and an account that is known to exist.
///
/// @param source where the accounts come from, for people
/// @param sample the account's name, or `group:NAME`; empty for none
public record DirectoryChecks(AccountDirectory directory, String source, Optional<String> sample) {
    /// The lookup that tests whether the directory answers; the account need not exist.
    private static final String ANYBODY = "siphon-check";

    public void run(Checklist list) {
        var answer = list.check(
                "directory",
                DirectoryChecks::remedy,
                () -> directory.account(ANYBODY),
                _ -> new CheckOutcome.Ok("answers, from " + source));
        if (sample.isEmpty()) {
            list.note("account", new CheckOutcome.Skipped("--account names none"));
        } else if (answer.isEmpty()) {
            list.note("account", new CheckOutcome.Skipped("the directory does not answer"));
        } else {
            String name = sample.get();
            var _ = list.check(
                    "account", DirectoryChecks::remedy, () -> directory.account(name), account -> judge(name, account));
        }
    }

    private static String remedy(DriverException failure) {
        return failure instanceof DriverException.BackendFault
                ? "correct the entry that the error names"
                : LdapAdapter.remedy(failure);
    }

    private static CheckOutcome judge(String name, Optional<Account> account) {
        return account.<CheckOutcome>map(found -> new CheckOutcome.Ok(words(found)))
                .orElseGet(() -> new CheckOutcome.Failed(
                        "there is no " + QuotedText.of(name),
                        "spell it as the directory does, letter for letter; in LDAP it must be below"
                                + " `accounts.base` and match `accounts.filter`"));
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
