package dev.siphon.controller.grant;

import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.GroupKey;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds the namespaces in a grant that are gone: deleted, or made anew under the same name. One that is
/// made anew and stands for the account by itself stays.
final class DeletedNamespaces {
    private static final Logger LOG = LoggerFactory.getLogger(DeletedNamespaces.class);

    private final NamespaceAccounts accounts;

    DeletedNamespaces(NamespaceAccounts accounts) {
        this.accounts = accounts;
    }

    /// Which namespaces there are, with their uids; empty where nobody tells that.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be known now
    Optional<Map<String, String>> there() {
        return accounts.knowsNamespaces() ? Optional.of(accounts.uids()) : Optional.empty();
    }

    /// Whether something of a note is to be looked at more closely.
    ///
    /// @param there some moments ago
    static boolean concern(GrantNote note, Map<String, String> there) {
        return note.namespaces().entrySet().stream()
                .anyMatch(each -> Optional.ofNullable(there.get(each.getKey()))
                        .map(GrantNote::beginning)
                        .filter(each.getValue()::equals)
                        .isEmpty());
    }

    /// A note without those that are gone now, each asked for by itself; the uids of those that had none are
    /// added.
    ///
    /// @param there some moments ago
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if one of them cannot be known now
    GrantNote drop(GroupKey place, GrantNote note, Map<String, String> there) {
        SortedMap<String, String> left = new TreeMap<>();
        note.namespaces().forEach((namespace, known) -> {
            Optional<String> listed = Optional.ofNullable(there.get(namespace)).map(GrantNote::beginning);
            boolean same =
                    listed.filter(uid -> known.isEmpty() || known.equals(uid)).isPresent();
            Optional<String> uid = same ? listed : uid(note.account(), namespace, known);
            uid.ifPresentOrElse(
                    now -> left.put(namespace, now),
                    () -> LOG.info(
                            "namespace {} that could use the volumes of account {} ({}) is gone, and so is its grant",
                            namespace,
                            note.account(),
                            place));
        });
        return note.with(left);
    }

    private Optional<String> uid(String account, String namespace, String known) {
        Optional<String> now = accounts.uid(namespace).map(GrantNote::beginning);
        return now.filter(uid ->
                known.isEmpty() || known.equals(uid) || accounts.of(namespace).contains(account));
    }
}
