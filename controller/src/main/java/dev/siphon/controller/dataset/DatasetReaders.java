package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.volume.NamespaceAccounts;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Decides whether a namespace may read a dataset: whether an account may for which it stands.
final class DatasetReaders {
    private final NamespaceAccounts accounts;
    private final Directory directory;

    DatasetReaders(NamespaceAccounts accounts, Directory directory) {
        this.accounts = accounts;
        this.directory = directory;
    }

    /// Looks at everything anew: what is written at the namespace (1 round trip to the API server, where there is
    /// one), and the directory.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if directory or API server do not
    ///     answer
    boolean mayRead(Dataset dataset, String namespace) {
        return dataset.readers().areEverybody() || mayRead(dataset, accounts.of(namespace));
    }

    private boolean mayRead(Dataset dataset, Set<String> names) {
        return accounts(names).stream().anyMatch(dataset.readers()::include);
    }

    /// The accounts for which a namespace stands, by what is known to be written at it.
    List<Account> accounts(String namespace, Map<String, String> annotations) {
        return accounts(accounts.of(namespace, annotations));
    }

    private List<Account> accounts(Set<String> names) {
        return names.stream().flatMap(name -> directory.account(name).stream()).toList();
    }
}
