package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        return dataset.isForEverybody() || mayRead(dataset, accounts.of(namespace));
    }

    private boolean mayRead(Dataset dataset, Set<String> names) {
        return accounts(names).stream().anyMatch(account -> include(dataset, account));
    }

    /// Whether an account may read it: it is named, or a group that it is in.
    static boolean include(Dataset dataset, Account account) {
        return dataset.isForEverybody()
                || dataset.readers().contains(account.name())
                || account.groups().stream().anyMatch(group -> dataset.readers().contains(Directory.GROUP + group));
    }

    private List<Account> accounts(Set<String> names) {
        return names.stream().flatMap(name -> directory.account(name).stream()).toList();
    }

    /// The accounts for which a namespace stands.
    ///
    /// @param known those that the directory has
    /// @param unknown why of others it cannot be known now, by their names
    record Standing(List<Account> known, Map<String, DriverException> unknown) {
        /// Whether that lets it read a dataset; empty if that cannot be known now.
        Optional<Boolean> reads(Dataset dataset) {
            if (known.stream().anyMatch(account -> include(dataset, account))) {
                return Optional.of(true);
            }
            return unknown.isEmpty() ? Optional.of(false) : Optional.empty();
        }
    }

    /// For whom a namespace stands, by what is known to be written at it. The directory is not asked for those in
    /// whose place `silence` is.
    Standing standing(String namespace, Map<String, String> annotations, Optional<DriverException> silence) {
        List<Account> known = new ArrayList<>();
        Map<String, DriverException> unknown = new LinkedHashMap<>();
        Optional<DriverException> silent = silence;
        for (String name : accounts.of(namespace, annotations)) {
            if (silent.isPresent()) {
                unknown.put(name, silent.get());
                continue;
            }
            try {
                directory.account(name).ifPresent(known::add);
            } catch (DriverException.BackendUnavailable silentNow) {
                silent = Optional.of(silentNow);
                unknown.put(name, silentNow);
            } catch (DriverException fault) {
                unknown.put(name, fault);
            }
        }
        return new Standing(List.copyOf(known), unknown);
    }
}
