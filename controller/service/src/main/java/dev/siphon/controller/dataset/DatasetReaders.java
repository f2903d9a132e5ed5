package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Decides whether a namespace may read a dataset: whether an account that it stands for may.
public final class DatasetReaders {
    private final NamespaceAccounts accounts;
    private final AccountDirectory directory;
    private final FrozenAccounts frozen;
    private final ReaderNames names;

    public DatasetReaders(
            NamespaceAccounts accounts, AccountDirectory directory, FrozenAccounts frozen, ReaderNames names) {
        this.accounts = accounts;
        this.directory = directory;
        this.frozen = frozen;
        this.names = names;
    }

    /// Decides without caches: reads the namespace (1 round trip to the API server, if there is one) and the
    /// directory.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the namespace does not exist
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the directory, the API server or
    ///     the dataset's cluster does not reply
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if only the freeze of its account forbids
    ///     it
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the name of its account or group
    ///     meant another one when first seen at the dataset
    boolean mayRead(Dataset dataset, String namespace) {
        if (dataset.isForEverybody()) {
            return true;
        }
        List<Account> named = accounts(accounts.of(namespace)).stream()
                .filter(account -> include(dataset, account))
                .toList();
        List<Account> readers = named.stream()
                .filter(account -> include(names.trusted(dataset, account), account))
                .toList();
        if (readers.isEmpty() && !named.isEmpty()) {
            throw new DriverException.AccessDenied("namespace " + QuotedText.of(namespace) + " stands for account "
                    + QuotedText.of(named.getFirst().name())
                    + ". But that name, or the name of its group, meant another"
                    + " one when it became a reader of dataset " + dataset.name()
                    + ": the status of the Dataset says what its administrator can do");
        }
        if (readers.isEmpty() || readers.stream().anyMatch(account -> !frozen.isFrozen(account, dataset))) {
            return !readers.isEmpty();
        }
        String name = readers.getFirst().name();
        throw new DriverException.InUse("namespace " + QuotedText.of(namespace) + " stands for account "
                + QuotedText.of(name) + ", which is frozen and gets no dataset; siphon user offboard " + name
                + " --unfreeze ends that");
    }

    /// Refuses a dataset that a frozen account sealed.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if its account is frozen
    void checkSealerNotFrozen(VolumeId.DatasetVolume volume, String name) {
        frozen.checkSealerNotFrozen(volume, name);
    }

    /// Returns the recorded and current meaning of reader names.
    ReaderNames names() {
        return names;
    }

    /// Returns who had lost access at the last pass: the groups of frozen accounts, and reader names that changed
    /// meaning.
    Set<String> withdrawn() {
        Set<String> withdrawn = new HashSet<>(frozen.groups());
        withdrawn.addAll(names.changed());
        return withdrawn;
    }

    /// Whether a namespace stands for an account that lost access to a dataset by the last pass: it was frozen, or
    /// its name meant another one before. Reads the accounts of the namespace without a cache.
    boolean isWithdrawn(Dataset dataset, String namespace) {
        return accounts(accounts.of(namespace)).stream()
                .filter(account -> include(dataset, account))
                .anyMatch(account ->
                        !include(names.trusted(dataset), account) || frozen.isFrozenAtLastScan(account, dataset));
    }

    /// Whether an account may read a dataset: the account or one of its groups is named as a reader.
    static boolean include(Dataset dataset, Account account) {
        return dataset.isForEverybody()
                || dataset.readers().contains(account.name())
                || account.groups().stream()
                        .anyMatch(group -> dataset.readers().contains(AccountDirectory.GROUP + group));
    }

    private List<Account> accounts(Set<String> names) {
        return names.stream().flatMap(name -> directory.account(name).stream()).toList();
    }

    /// The accounts that a namespace stands for.
    ///
    /// @param known those that the directory has
    /// @param unknown names whose lookup failed, with the reason
    record ResolvedReaders(List<Account> known, Map<String, DriverException> unknown) {}

    /// Whether a namespace may read a dataset through its accounts, without frozen ones and changed names; empty if
    /// unknown now. Sends no request.
    Optional<Boolean> reads(ResolvedReaders standing, Dataset declared) {
        Dataset dataset = names.trusted(declared);
        boolean unsure = !standing.unknown().isEmpty();
        for (Account account : standing.known()) {
            try {
                if (include(dataset, account) && !frozen.isFrozenAtLastScan(account, dataset)) {
                    return Optional.of(true);
                }
            } catch (DriverException.BackendUnavailable notYet) {
                unsure = true;
            }
        }
        return unsure ? Optional.empty() : Optional.of(false);
    }

    /// Resolves the accounts of a namespace by its known annotations. If `silence` is present, all of them are
    /// unknown and the directory is not queried.
    ResolvedReaders standing(String namespace, Map<String, String> annotations, Optional<DriverException> silence) {
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
        return new ResolvedReaders(List.copyOf(known), unknown);
    }
}
