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

/// Finds namespaces in a grant that were deleted, or recreated under the same name. A recreated namespace stays
/// if it is itself assigned to the account.
final class DeletedNamespaces {
    private static final Logger LOG = LoggerFactory.getLogger(DeletedNamespaces.class);

    private final NamespaceAccounts accounts;

    DeletedNamespaces(NamespaceAccounts accounts) {
        this.accounts = accounts;
    }

    /// Returns the existing namespaces with their uids; empty if unknown, as without Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if they cannot be listed now
    Optional<Map<String, String>> there() {
        return accounts.knowsNamespaces() ? Optional.of(accounts.uids()) : Optional.empty();
    }

    /// Returns whether a note needs a closer check.
    ///
    /// @param there a recent list of namespaces
    static boolean concern(GrantNote note, Map<String, String> there) {
        return note.namespaces().entrySet().stream()
                .anyMatch(each -> Optional.ofNullable(there.get(each.getKey()))
                        .map(GrantNote::beginning)
                        .filter(each.getValue()::equals)
                        .isEmpty());
    }

    /// Returns the note without deleted namespaces, checking each suspect individually. Adds missing uids.
    ///
    /// @param there a recent list of namespaces
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if a namespace cannot be checked now
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
                            "namespace {} was deleted, so its grant for the volumes of account {} ({}) was removed",
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
