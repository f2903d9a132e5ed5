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
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives every group the quota that the directory says its account may have, again and again: more, or less, also
/// less than is in it, which stops writes and deletes nothing. Where the directory says nothing of an account's
/// allowance the quota stays as it is, and so it does when the account is gone, or the directory does not answer.
///
/// A round costs three searches in the directory at most, however many accounts there are, and one call to each
/// file system, which reads three attributes of each group; none to a mon or mgr. A quota that differs is one
/// more call.
public final class QuotaReconciler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaReconciler.class);

    /// What a round may take; what is not done then is done in the next one.
    private static final Duration ROUND = Duration.ofMinutes(15);

    private final Clusters clusters;
    private final FileTree files;
    private final AccountDirectory directory;
    private final AllowanceLedger ledger;
    private final QuotaReconcilerMetrics metrics;
    private final Duration limit;
    private final Clock clock = Clock.systemUTC();
    private volatile boolean stopped;
    private Optional<BackgroundTasks.Task> task = Optional.empty();

    /// What a round found.
    ///
    /// @param whole whether the directory and all clusters answered
    /// @param inStep groups whose quota is as the directory says, now at least
    /// @param changed those of them that were not before
    /// @param gone groups whose account the directory does not have
    public record ReconcileResult(boolean whole, int inStep, int changed, int gone) {}

    /// @param ledger is told what holds
    public QuotaReconciler(
            CephPorts ports, AccountDirectory directory, AllowanceLedger ledger, PrometheusRegistry registry) {
        this(ports, directory, ledger, registry, ROUND);
    }

    /// @param limit what a round may take
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

    /// Begins, with the first round after the first interval.
    public QuotaReconciler start(Duration every, BackgroundTasks tasks) {
        task = Optional.of(tasks.every("reconcile", every, every, this::reconcileOrTell));
        return this;
    }

    @Override
    public void close() {
        stopped = true;
        task.ifPresent(BackgroundTasks.Task::close);
    }

    private void reconcileOrTell() {
        try {
            metrics.ended(reconcile(), clock.instant());
            ledger.lookAgain();
        } catch (DriverException notNow) {
            LOG.atWarn().log("allowances are as they were: {}", notNow.getMessage());
        }
    }

    /// One round.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer, or the round
    ///     takes too long: what was not looked at stays
    public ReconcileResult reconcile() {
        long end = System.nanoTime() + limit.toNanos();
        Map<SubvolumeGroup, GroupStanding> groups = new LinkedHashMap<>();
        boolean whole = true;
        for (String cluster : clusters.ids()) {
            try {
                addGroups(cluster, groups);
            } catch (DriverException silent) {
                whole = false;
                LOG.atWarn().addKeyValue("cluster", cluster).log("allowances there wait: {}", silent.getMessage());
            }
        }
        if (groups.isEmpty()) {
            return new ReconcileResult(whole, 0, 0, 0);
        }
        Map<String, Account> accounts = accounts(groups.keySet(), end);
        int changed = 0;
        int gone = 0;
        for (Map.Entry<SubvolumeGroup, GroupStanding> each : groups.entrySet()) {
            inTime(end);
            Optional<Account> account =
                    Optional.ofNullable(accounts.get(each.getKey().name()));
            gone += account.isEmpty() ? 1 : 0;
            try {
                changed += bringInStep(each.getKey(), each.getValue(), account) ? 1 : 0;
            } catch (DriverException failed) {
                whole = false;
                LOG.atWarn().addKeyValue("group", each.getKey()).log("its allowance waits: {}", failed.getMessage());
            }
        }
        return new ReconcileResult(whole, groups.size() - gone, changed, gone);
    }

    private void addGroups(String cluster, Map<SubvolumeGroup, GroupStanding> groups) {
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            for (GroupStanding standing : files.standings(cluster, fileSystem.name())) {
                SubvolumeGroup group = new SubvolumeGroup(cluster, fileSystem.name(), standing.group());
                if (Volumes.isOurs(group)) {
                    groups.put(group, standing);
                }
            }
        }
    }

    /// The accounts of these groups, by the groups' names; of all others nothing is kept.
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

    /// Whatever ends it early: a directory without end, or file systems that are slow, must not be all that
    /// happens.
    private void inTime(long end) {
        if (System.nanoTime() - end > 0) {
            throw new DriverException.BackendUnavailable(
                    "a round was not over within " + limit.toSeconds() + " s; the next one begins again");
        }
        if (stopped) {
            throw new DriverException.BackendUnavailable("the driver stops");
        }
    }

    /// @return whether the quota was another
    private boolean bringInStep(SubvolumeGroup group, GroupStanding standing, Optional<Account> account) {
        OptionalLong wanted = account.map(Account::allowanceBytes).orElse(OptionalLong.empty());
        boolean differs = wanted.isPresent()
                && !standing.quotaBytes().equals(OptionalLong.of(AllowanceLedger.quota(wanted.getAsLong())));
        if (differs) {
            files.setQuotaBytes(
                    group.cluster(), group.fileSystem(), group.path(), AllowanceLedger.quota(wanted.getAsLong()));
            LOG.atInfo()
                    .addKeyValue("group", group)
                    .addKeyValue("bytes", wanted.getAsLong())
                    .addKeyValue("before", standing.quotaBytes().orElse(0))
                    .log("the directory has another allowance");
        }
        ledger.inForce(group, wanted.isPresent() ? wanted : standing.quotaBytes(), wanted.isPresent());
        Optional<AccountNote> note = account.map(AccountNote::of);
        if (note.isPresent() && !note.equals(standing.account())) {
            files.setNote(
                    group.cluster(),
                    group.fileSystem(),
                    group.path(),
                    AccountNote.NAME,
                    note.get().text());
        }
        return differs;
    }
}
