package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.Directory;
import java.util.Set;

/// Who may read a dataset.
///
/// @param names of accounts, of groups as `group:NAME`, or [#EVERYBODY]
public record Readers(Set<String> names) {
    /// Whoever has a namespace in the cluster.
    public static final String EVERYBODY = "*";

    public Readers {
        names = Set.copyOf(names);
    }

    /// Whether there is nobody who may not.
    public boolean areEverybody() {
        return names.contains(EVERYBODY);
    }

    /// Whether an account may: it is named, or a group that it is in.
    public boolean include(Account account) {
        return areEverybody()
                || names.contains(account.name())
                || account.groups().stream().anyMatch(group -> names.contains(Directory.GROUP + group));
    }
}
