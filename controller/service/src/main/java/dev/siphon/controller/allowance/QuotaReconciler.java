package dev.siphon.controller.allowance;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.AllowanceLedger;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Periodically sets the quota of each group to the allowance that the directory has for its account. A quota
/// below the current usage stops writes and deletes nothing. The quota stays if the directory has no such account
/// or no allowance for it, or does not answer.
///
/// A round costs at most three directory searches, however many accounts there are, plus one call per file
/// system. That call reads three attributes of each group and needs no mon or mgr. Each changed quota or account
/// note costs one more call.
public final class QuotaReconciler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaReconciler.class);

    /// Time limit of a round; the next round does the rest.
    private static final Duration ROUND = Duration.ofMinutes(15);

    private final Clusters clusters;
    private final FileTree files;
    private final AccountDirectory directory;
    private final AllowanceLedger ledger;
    private final QuotaReconcilerMetrics metrics;
    private final Duration limit;
    private final Clock clock = Clock.systemUTC();
    private volatile boolean stopped;

    /// Does nothing before the start.
    private BackgroundTasks.Task task = () -> {};

    /// The result of a round.
    ///
    /// @param whole false if a file system was not read, or a group could not be updated
    /// @param inStep groups whose account the directory has
    /// @param changed groups whose quota this round changed
    /// @param gone groups whose account the directory does not have
    public record ReconcileResult(boolean whole, int inStep, int changed, int gone) {}

    /// @param ledger receives the allowance in force of each group
    public QuotaReconciler(
            CephPorts ports, AccountDirectory directory, AllowanceLedger ledger, PrometheusRegistry registry) {
        this(ports, directory, ledger, registry, ROUND);
    }

    /// @param limit time limit of a round
    QuotaReconciler(
            CephPorts ports,
            AccountDirectory directory,
            AllowanceLedger ledger,
            PrometheusRegistry registry,
            Duration limit) {
        this.limit = limit;
        this.clusters = ports.clusters();
        this.files = ports.files();
        this.directory = directory;
        this.ledger = ledger;
        this.metrics = new QuotaReconcilerMetrics(registry);
    }

    /// Starts the reconciler; the first round runs after the first interval.
    public QuotaReconciler start(Duration every, BackgroundTasks tasks) {
        task = tasks.every("reconcile", every, every, this::reconcileOrTell);
        return this;
    }

    @Override
    public void close() {
        stopped = true;
        task.close();
    }

    private void reconcileOrTell() {
        try {
            metrics.ended(reconcile(), clock.instant());
            ledger.lookAgain();
        } catch (DriverException notNow) {
            LOG.atWarn().log("allowances are not updated: {}", notNow.getMessage());
        }
    }

    /// Runs one round.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer, the round
    ///     exceeds its limit, or the driver stops; the remaining groups stay as they are
    public ReconcileResult reconcile() {
        long end = System.nanoTime() + limit.toNanos();
        Map<SubvolumeGroup, GroupStanding> groups = new LinkedHashMap<>();
        boolean whole = addGroups(groups, end - limit.dividedBy(2).toNanos());
        throwIfStopped();
        Map<String, Account> accounts = groups.isEmpty() ? Map.of() : accounts(groups.keySet(), end);
        int changed = 0;
        int gone = 0;
        for (Map.Entry<SubvolumeGroup, GroupStanding> each : groups.entrySet()) {
            inTime(end);
            SubvolumeGroup group = each.getKey();
            Optional<Account> account = Optional.ofNullable(accounts.get(group.name()));
            gone += account.isEmpty() ? 1 : 0;
            try {
                if (account.isPresent()) {
                    changed += bringInStep(group, each.getValue(), account.get()) ? 1 : 0;
                } else {
                    ledger.inForce(group, each.getValue().quotaBytes(), false);
                }
            } catch (DriverException failed) {
                whole = false;
                LOG.atWarn()
                        .addKeyValue("group", group)
                        .log("the allowance of this group is not updated yet: {}", failed.getMessage());
            }
        }
        if (whole) {
            metrics.used(uses(groups, accounts));
        }
        return new ReconcileResult(whole, groups.size() - gone, changed, gone);
    }

    /// @param end when no further file system is read, so that those that have been read are dealt with
    /// @return false if a file system was not read
    private boolean addGroups(Map<SubvolumeGroup, GroupStanding> groups, long end) {
        boolean whole = true;
        for (String cluster : clusters.ids()) {
            whole &= addGroups(cluster, groups, end);
        }
        return whole;
    }

    private boolean addGroups(String cluster, Map<SubvolumeGroup, GroupStanding> groups, long end) {
        throwIfStopped();
        List<Clusters.FileSystem> fileSystems;
        try {
            inFirstHalf(end);
            fileSystems = clusters.fileSystems(cluster);
        } catch (DriverException silent) {
            LOG.atWarn()
                    .addKeyValue("cluster", cluster)
                    .log("the allowances of this cluster are not updated yet: {}", silent.getMessage());
            return false;
        }
        boolean whole = true;
        for (Clusters.FileSystem fileSystem : fileSystems) {
            throwIfStopped();
            whole &= addGroups(cluster, fileSystem.name(), groups, end);
        }
        return whole;
    }

    /// One file system whose MDS is away, or whose `/volumes` the controller may not read, holds up no other.
    private boolean addGroups(String cluster, String fileSystem, Map<SubvolumeGroup, GroupStanding> groups, long end) {
        try {
            inFirstHalf(end);
            for (GroupStanding standing : files.standings(cluster, fileSystem)) {
                SubvolumeGroup group = new SubvolumeGroup(cluster, fileSystem, standing.group());
                if (Volumes.isOurs(group)) {
                    groups.put(group, standing);
                }
            }
            return true;
        } catch (DriverException silent) {
            LOG.atWarn()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("fileSystem", fileSystem)
                    .log("the allowances of this file system are not updated yet: {}", silent.getMessage());
            return false;
        }
    }

    private static List<AllowanceUse> uses(Map<SubvolumeGroup, GroupStanding> groups, Map<String, Account> accounts) {
        return groups.entrySet().stream()
                .flatMap(each -> {
                    Optional<Account> account =
                            Optional.ofNullable(accounts.get(each.getKey().name()));
                    return AllowanceUse.of(each.getKey(), each.getValue(), account).stream();
                })
                .toList();
    }

    /// Returns the accounts of these groups, by group name. Other accounts are not kept in memory.
    private Map<String, Account> accounts(Set<SubvolumeGroup> groups, long end) {
        Set<String> names = groups.stream().map(SubvolumeGroup::name).collect(Collectors.toSet());
        Map<String, Account> accounts = new HashMap<>();
        directory.accounts(account -> {
            inTime(end);
            String name = SubvolumeGroup.nameOf(account);
            if (names.contains(name)) {
                accounts.put(name, account);
            }
        });
        return accounts;
    }

    /// Aborts a round that is too slow: an endless directory or slow file systems must not block the following
    /// rounds.
    private void inTime(long end) {
        throwIfStopped();
        throwIfPast(end, "the round did not finish within " + limit.toSeconds() + " s; the next one starts over");
    }

    private static void inFirstHalf(long end) {
        throwIfPast(end, "those before it took half of the round");
    }

    private static void throwIfPast(long end, String why) {
        if (System.nanoTime() - end > 0) {
            throw new DriverException.BackendUnavailable(why);
        }
    }

    private void throwIfStopped() {
        if (stopped) {
            throw new DriverException.BackendUnavailable("the driver is stopping");
        }
    }

    /// @return whether the quota changed
    private boolean bringInStep(SubvolumeGroup group, GroupStanding standing, Account account) {
        OptionalLong wanted = account.allowanceBytes();
        boolean differs = wanted.isPresent()
                && !standing.quotaBytes().equals(OptionalLong.of(AllowanceLedger.quota(wanted.getAsLong())));
        if (differs) {
            files.setQuotaBytes(
                    group.cluster(), group.fileSystem(), group.path(), AllowanceLedger.quota(wanted.getAsLong()));
            LOG.atInfo()
                    .addKeyValue("group", group)
                    .addKeyValue("bytes", wanted.getAsLong())
                    .addKeyValue("before", standing.quotaBytes().orElse(0))
                    .log("the quota was changed to the allowance in the directory");
        }
        ledger.inForce(group, wanted.isPresent() ? wanted : standing.quotaBytes(), wanted.isPresent());
        AccountNote note = AccountNote.of(account);
        if (!standing.account().equals(Optional.of(note))) {
            files.setNote(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME, note.text());
        }
        return differs;
    }
}
