package dev.siphon.controller.allowance;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.AllowanceLedger;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.SubvolumeGroup;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// How much of its allowance an account has written in one file system.
///
/// @param account its name; the group's if nobody knows the account
/// @param allowanceBytes the allowance in force, at least 1
/// @param writtenBytes as [GroupStanding#writtenBytes]
record AllowanceUse(String cluster, String fileSystem, String account, long allowanceBytes, long writtenBytes) {
    /// How many accounts have metrics.
    static final int MOST = 20;

    /// Returns the use of the allowance in force: the directory's, or else the group's quota; empty without any.
    ///
    /// @param account empty if the directory does not have it; then it has the name last recorded
    static Optional<AllowanceUse> of(SubvolumeGroup group, GroupStanding standing, Optional<Account> account) {
        OptionalLong wanted = account.map(Account::allowanceBytes).orElse(OptionalLong.empty());
        OptionalLong allowance = wanted.isPresent() ? wanted : standing.quotaBytes();
        if (allowance.isEmpty()) {
            return Optional.empty();
        }
        String name = account.map(Account::name)
                .or(() -> standing.account().map(AccountNote::name))
                .orElse(group.name());
        return Optional.of(new AllowanceUse(
                group.cluster(),
                group.fileSystem(),
                name,
                AllowanceLedger.quota(allowance.getAsLong()),
                standing.writtenBytes()));
    }

    private double share() {
        return (double) writtenBytes / allowanceBytes;
    }

    /// Returns the accounts that have written the largest share, at most [#MOST]. Of several with one name, such as one
    /// that has left the directory and its successor, it returns the fullest: names identify series.
    static List<AllowanceUse> fullest(Collection<AllowanceUse> all) {
        Set<List<String>> named = new HashSet<>();
        return all.stream()
                .sorted(Comparator.comparingDouble(AllowanceUse::share)
                        .reversed()
                        .thenComparing(AllowanceUse::account))
                .filter(each -> named.add(List.of(each.cluster(), each.fileSystem(), each.account())))
                .limit(MOST)
                .toList();
    }
}
