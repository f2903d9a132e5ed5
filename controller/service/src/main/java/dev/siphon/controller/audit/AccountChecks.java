package dev.siphon.controller.audit;

import dev.siphon.controller.audit.FileSystemScan.ScannedEntry;
import dev.siphon.controller.audit.FileSystemScan.ScannedGroup;
import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.audit.VolumesDirectory.DataState;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Compares groups with their accounts, if a note on the group names the owner.
public final class AccountChecks {
    private final AccountDirectory directory;

    public AccountChecks(AccountDirectory directory) {
        this.directory = directory;
    }

    private static Optional<AccountNote> ownerOf(ScannedGroup seen) {
        return AccountNote.parse(seen.state().notes().getOrDefault(AccountNote.NAME, ""));
    }

    private static String words(AccountNote owner) {
        return owner.name() + " (uid " + owner.uid() + ")";
    }

    /// Returns the differences from the directory of accounts. Accounts that it cannot look up now are skipped.
    List<Finding> of(List<FileSystemScan> looks) {
        List<Finding> found = new ArrayList<>();
        for (FileSystemScan scan : looks) {
            Map<String, List<String>> groupsOfUid = new TreeMap<>();
            for (ScannedGroup seen : scan.groups().values()) {
                Optional<AccountNote> owner = ownerOf(seen);
                Optional.ofNullable(seen.state().notes().get(AccountFreeze.NOTE))
                        .ifPresent(since -> {
                            String why = "account "
                                    + owner.map(AccountChecks::words).orElse("") + " is frozen since " + since;
                            found.add(remark(Kind.FROZEN, seen, why));
                        });
                owner.ifPresent(of -> {
                    groupsOfUid
                            .computeIfAbsent(of.uid(), _ -> new ArrayList<>())
                            .add(of.name() + " in " + seen.group().name());
                    found.addAll(ofOwner(seen, of));
                });
            }
            groupsOfUid.forEach((uid, groups) -> {
                if (groups.size() > 1) {
                    found.add(new Finding(
                            Kind.UID_REUSED,
                            scan.cluster() + ":" + scan.fileSystem() + ":uid " + uid,
                            "belongs to several: " + String.join(", ", groups),
                            new Repair.ByHand(
                                    "no account inherits another's volumes; run siphon user offboard for those"
                                            + " that are gone")));
                }
            });
        }
        return found;
    }

    private List<Finding> ofOwner(ScannedGroup seen, AccountNote owner) {
        Optional<Account> account;
        try {
            account = directory
                    .account(owner.name())
                    .filter(each ->
                            CephNames.group(each.id()).equals(seen.group().name()));
        } catch (DriverException.BackendUnavailable | DriverException.BackendFault unknown) {
            return List.of();
        }
        if (account.isEmpty()) {
            return List.of(remark(Kind.ACCOUNT_GONE, seen, "account " + words(owner) + " is not in the directory"));
        }
        List<Finding> found = new ArrayList<>();
        account.get().allowanceBytes().ifPresent(allowance -> {
            long quota = seen.state().quotaBytes().orElse(0);
            // Ceph treats a quota of 0 as unlimited, and an account with an allowance of 0 can create nothing
            if (allowance > 0 && quota != allowance) {
                found.add(new Finding(
                        Kind.QUOTA_DRIFT,
                        seen.group().toString(),
                        "of account " + words(owner) + " has a quota of " + quota + " bytes, and the allowance is "
                                + allowance,
                        new Repair.SetQuota(seen.group(), allowance)));
            }
        });
        seen.entries()
                .forEach(entry -> entry.data().stream()
                        .filter(data ->
                                data.kind() == VolumesDirectory.FileKind.DIRECTORY && !isOwnedBy(data, account.get()))
                        .forEach(data -> found.add(new Finding(
                                Kind.OWNER_DIFFERS,
                                VolumeChecks.describe(new ScannedEntry(seen.group(), entry)),
                                "belongs to " + data.uid() + ":" + data.gid() + ", and account " + owner.name() + " is "
                                        + account.get().uid() + ":"
                                        + account.get().gid(),
                                new Repair.ByHand("right if its class says uid or gid; else chown -R")))));
        return found;
    }

    private static boolean isOwnedBy(DataState data, Account account) {
        return data.uid() == account.uid() && data.gid() == account.gid();
    }

    private static Finding remark(Kind kind, ScannedGroup seen, String why) {
        int volumes = (int) seen.entries().stream()
                .map(entry -> new ScannedEntry(seen.group(), entry).id())
                .flatMap(Optional<VolumeId.Provisioned>::stream)
                .count();
        return new Finding(
                kind,
                seen.group().toString(),
                why + ", " + volumes + " volumes",
                new Repair.ByHand("nothing needs to be done; siphon user offboard hands over, exports or unfreezes"));
    }
}
