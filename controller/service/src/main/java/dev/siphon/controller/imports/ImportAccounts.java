package dev.siphon.controller.imports;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.imports.ImportStatus.Phase;
import dev.siphon.controller.imports.ObservedImport.Standing;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Dataset;
import java.util.Optional;
import java.util.TreeSet;

/// Decides as which account an import runs, and whether that may have the readers that are asked for.
final class ImportAccounts {
    private static final int LONGEST_NAME = 40;

    private final NamespaceAccounts accounts;
    private final AccountDirectory directory;

    ImportAccounts(NamespaceAccounts accounts, AccountDirectory directory) {
        this.accounts = accounts;
        this.directory = directory;
    }

    /// Asks for the account of the import's namespace: one round trip to the API server, one lookup in the directory.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if one of them does not answer
    Standing of(DatasetImport wanted) {
        if (wanted.source() instanceof ImportSource.Unusable(var why)) {
            return new Standing.Denied("Invalid", why);
        }
        if (wanted.name().contains(".") || wanted.name().length() > LONGEST_NAME) {
            return new Standing.Denied(
                    "Invalid",
                    "the name becomes the dataset's: apply it with a name of at most " + LONGEST_NAME
                            + " characters and without dots");
        }
        Optional<String> name = accounts.ofRule(wanted.namespace());
        Optional<Account> found = name.flatMap(directory::account);
        if (found.isEmpty()) {
            return new Standing.Denied(
                    "NoAccount",
                    "namespace " + wanted.namespace() + " stands for no account of the directory"
                            + name.map(it -> ", which has no " + QuotedText.of(it))
                                    .orElse("")
                            + ": ask the cluster's administrator which namespace is yours");
        }
        Account account = found.get();
        if (account.isGroup()) {
            return new Standing.Denied(
                    "GroupAccount",
                    "namespace " + wanted.namespace() + " stands for " + account.name()
                            + ", and a fetch runs as a person: apply it in the namespace of a member");
        }
        if (wanted.status().phase() == Phase.READY
                && !Dataset.objectName(wanted.status().dataset()).equals(dataset(account, wanted))) {
            return new Standing.Denied(
                    "OtherAccount",
                    "dataset " + wanted.status().dataset() + " is not of account " + account.name()
                            + ", for which the namespace stands now: it gives it no readers, but an administrator"
                            + " can add them to the Dataset");
        }
        TreeSet<String> strange = new TreeSet<>(wanted.groups());
        strange.removeAll(account.groups());
        return strange.isEmpty()
                ? new Standing.Allowed(account)
                : new Standing.Denied(
                        "NotAMember",
                        "account " + account.name() + " is not in group " + QuotedText.of(strange.first())
                                + ": remove that from spec.readers.groups, or ask an administrator to add the reader"
                                + " to the Dataset once it is ready");
    }

    /// Returns the name of the dataset's object.
    static String dataset(Account account, DatasetImport of) {
        return account.name() + "." + of.name();
    }

    /// Returns the name of an object as users write it.
    static String written(String dataset) {
        return Dataset.account(dataset)
                .map(account -> account + "/" + dataset.substring(account.length() + 1))
                .orElse(dataset);
    }
}
