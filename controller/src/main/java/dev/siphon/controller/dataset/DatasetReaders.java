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

/// Decides whether a namespace may read a dataset: whether an account may for which it stands.
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

    /// Looks at everything anew: what is written at the namespace (1 round trip to the API server, where there is
    /// one), and the directory.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if directory, API server or the
    ///     dataset's cluster do not answer
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if it might, but for its account being
    ///     frozen
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the name of its account, or of a
    ///     group, meant somebody else when it was first seen at the dataset
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
            throw new DriverException.AccessDenied("account "
                    + QuotedText.of(named.getFirst().name()) + ", for which namespace " + QuotedText.of(namespace)
                    + " stands, is another one than that which was a reader of dataset " + dataset.name()
                    + " by that name, or by that of a group: the status of the Dataset says what whoever administers it"
                    + " may do");
        }
        if (readers.isEmpty() || readers.stream().anyMatch(account -> !frozen.isFrozen(account, dataset))) {
            return !readers.isEmpty();
        }
        throw new DriverException.InUse("account "
                + QuotedText.of(readers.getFirst().name()) + ", for which namespace "
                + QuotedText.of(namespace)
                + " stands, is frozen: it gets no dataset; siphon user offboard --unfreeze lets"
                + " it go on");
    }

    /// Refuses to give out a dataset that a frozen account has sealed.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it has
    void checkOwner(VolumeId.DatasetVolume volume, String name) {
        frozen.checkOwner(volume, name);
    }

    /// Whom names meant and mean.
    ReaderNames names() {
        return names;
    }

    /// Who read nothing any more at the last look: the groups of frozen accounts, and names that have changed.
    Set<String> withdrawn() {
        Set<String> withdrawn = new HashSet<>(frozen.groups());
        withdrawn.addAll(names.changed());
        return withdrawn;
    }

    /// Whether a namespace stands for an account that might read a dataset, but for being frozen, or another one
    /// than was meant, at the last look. Looks anew for whom it stands.
    boolean isWithdrawn(Dataset dataset, String namespace) {
        return accounts(accounts.of(namespace)).stream()
                .filter(account -> include(dataset, account))
                .anyMatch(account -> !include(names.trusted(dataset), account) || frozen.wasFrozen(account, dataset));
    }

    /// Whether an account may read it: it is named, or a group that it is in.
    static boolean include(Dataset dataset, Account account) {
        return dataset.isForEverybody()
                || dataset.readers().contains(account.name())
                || account.groups().stream()
                        .anyMatch(group -> dataset.readers().contains(AccountDirectory.GROUP + group));
    }

    private List<Account> accounts(Set<String> names) {
        return names.stream().flatMap(name -> directory.account(name).stream()).toList();
    }

    /// The accounts for which a namespace stands.
    ///
    /// @param known those that the directory has
    /// @param unknown why of others it cannot be known now, by their names
    record ResolvedReaders(List<Account> known, Map<String, DriverException> unknown) {}

    /// Whether a namespace may read a dataset by the accounts for which it stands, those aside that are frozen or
    /// not those that were meant; empty if that cannot be known now. Asks nobody.
    Optional<Boolean> reads(ResolvedReaders standing, Dataset declared) {
        Dataset dataset = names.trusted(declared);
        boolean unsure = !standing.unknown().isEmpty();
        for (Account account : standing.known()) {
            try {
                if (include(dataset, account) && !frozen.wasFrozen(account, dataset)) {
                    return Optional.of(true);
                }
            } catch (DriverException.BackendUnavailable notYet) {
                unsure = true;
            }
        }
        return unsure ? Optional.empty() : Optional.of(false);
    }

    /// For whom a namespace stands, by what is known to be written at it. The directory is not asked for those in
    /// whose place `silence` is.
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
