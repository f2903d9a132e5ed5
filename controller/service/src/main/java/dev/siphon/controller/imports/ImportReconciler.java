package dev.siphon.controller.imports;

import dev.siphon.controller.dataset.PacedPasses;
import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.imports.ImportStatus.Phase;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.Part;
import dev.siphon.controller.imports.ObservedImport.Standing;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes the next step of each DatasetImport, again and again. It keeps nothing that the next leader would miss.
///
/// A pass costs some four requests to the API server for each import that is under way, and one lookup of its
/// account; none for those that have ended. Passes take at most a fifth of the time.
public final class ImportReconciler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ImportReconciler.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /// Pause after a pass, as a multiple of the time that the pass took.
    private static final int PAUSES = 4;

    private static final int MOST_MESSAGE = 500;

    private final ImportCluster cluster;
    private final ImportAccounts accounts;
    private final FileTree files;
    private final ImportTurns turns = new ImportTurns();
    private final PerObjectRetries steps = new PerObjectRetries();
    private volatile List<BackgroundTasks.Task> running = List.of();
    private final PacedPasses passes = new PacedPasses(PAUSE, PAUSES);

    /// @param accounts of namespaces
    /// @param files reads how far a fetch is, at the volume that it fills
    public ImportReconciler(
            ImportCluster cluster, NamespaceAccounts accounts, AccountDirectory directory, FileTree files) {
        this.cluster = cluster;
        this.accounts = new ImportAccounts(accounts, directory);
        this.files = files;
    }

    /// Starts periodic reconciliation.
    public ImportReconciler start(BackgroundTasks tasks) {
        running = List.of(
                cluster.follow(tasks),
                tasks.every("dataset-imports", Duration.ZERO, passes::pause, this::reconcileAndLog));
        return this;
    }

    @Override
    public void close() {
        running.forEach(BackgroundTasks.Task::close);
    }

    private void reconcileAndLog() {
        passes.run(this::reconcile, why -> LOG.warn("some DatasetImports could not be handled: {}", why));
    }

    /// Runs one pass: a step of each import that has a turn. A failure for one import does not block the others; it
    /// is thrown at the end.
    ///
    /// @throws DriverException if the imports could not be read, or some request failed
    public void reconcile() {
        List<DatasetImport> all = cluster.imports();
        List<DatasetImport> open = all.stream().filter(each -> !isDone(each)).toList();
        boolean on = !open.isEmpty() && cluster.isOn();
        ImportTurns.Turn turn = turns.next(open);
        Stream<PerObjectRetries.Step> due = turn.due().stream().map(each -> step(each, () -> take(each, on)));
        Stream<PerObjectRetries.Step> waiting = turn.waiting().stream()
                .limit(ImportTurns.MOST)
                .map(each -> step(each, () -> report(each, waiting(each))));
        Stream<PerObjectRetries.Step> used = all.stream()
                .filter(each -> isDone(each) && !each.status().isOver())
                .flatMap(each -> uses(each).stream()
                        .filter(now -> !now.equals(each.status().uses()))
                        .map(now -> step(each, () -> report(each, each.status().usedBy(now)))))
                .limit(ImportTurns.MOST);
        Stream<PerObjectRetries.Step> leftOut = cluster.leftOut().stream()
                .limit(ImportTurns.MOST)
                .map(each -> step(each.wanted(), () -> report(each.wanted(), leftOut(each))));
        Optional<DriverException.BackendUnavailable> silent = steps.take(
                Stream.of(due, waiting, used, leftOut).flatMap(part -> part).toList());
        if (silent.isPresent()) {
            throw silent.get();
        }
    }

    private static ImportStatus waiting(DatasetImport each) {
        return each.status()
                .in(
                        each.status().phase(),
                        "Waiting",
                        "waits for " + ImportTurns.AT_ONCE + " older imports of this namespace");
    }

    private static ImportStatus leftOut(ImportCluster.LeftOut each) {
        ImportStatus status = each.wanted().status();
        return status.in(status.phase(), ImportStatus.TOO_MANY, each.why());
    }

    /// Whether an import needs no step: what failed, what is ready while its dataset exists, and what has lost its
    /// dataset until an administrator declares it again.
    private boolean isDone(DatasetImport each) {
        return each.isSettled()
                && (each.status().isOver()
                        || uses(each).isPresent() != each.status().hasLostDataset());
    }

    private Optional<ImportStatus.DatasetUses> uses(DatasetImport each) {
        return cluster.uses(Dataset.objectName(each.status().dataset()));
    }

    private PerObjectRetries.Step step(DatasetImport each, Runnable act) {
        return new PerObjectRetries.Step(
                each.uid(), each.status(), act, refused -> reportRefusal(each, String.valueOf(refused.getMessage())));
    }

    private void reportRefusal(DatasetImport each, String why) {
        LOG.warn("{} does not get on: {}", each, why);
        try {
            report(each, each.status().in(each.status().phase(), "Refused", bounded(why) + "; it is tried again"));
        } catch (DriverException notNow) {
            LOG.info("that is not reported at {}: {}", each, notNow.getMessage());
        }
    }

    private void take(DatasetImport each, boolean on) {
        Standing standing = accounts.of(each);
        // the namespace may stand for another account since then
        boolean isMade = each.status().phase() == Phase.READY;
        String dataset = !isMade && standing instanceof Standing.Allowed(var account)
                ? ImportAccounts.dataset(account, each)
                : Dataset.objectName(each.status().dataset());
        // without imports the controller may have no right to look
        boolean isSeen = on || each.status().phase().isEnd();
        ObservedImport is = new ObservedImport(
                each.name(),
                each.status().phase(),
                on,
                standing,
                isSeen ? cluster.claim(each) : new Part.Absent(),
                isSeen ? cluster.fetch(each) : new Part.Absent(),
                isSeen ? cluster.seal(each, dataset) : new Part.Absent(),
                isShared(each, standing),
                each.keepVolume());
        carryOut(each, is, ImportDecision.decide(is), dataset);
    }

    private static boolean isShared(DatasetImport each, Standing standing) {
        return standing instanceof Standing.Allowed(var account)
                && each.status().readers().equals(readers(account, each));
    }

    /// Returns the readers that the import gave and that its owner has not removed: the account, and groups.
    private static Set<String> stillWanted(DatasetImport each) {
        Set<String> readers = new HashSet<>(each.status().readers());
        readers.removeIf(reader -> reader.startsWith(AccountDirectory.GROUP)
                && !each.groups().contains(reader.substring(AccountDirectory.GROUP.length())));
        return readers;
    }

    private static Set<String> readers(Account account, DatasetImport each) {
        Set<String> readers = new HashSet<>(Set.of(account.name()));
        each.groups().forEach(group -> readers.add(AccountDirectory.GROUP + group));
        return readers;
    }

    private void carryOut(DatasetImport each, ObservedImport is, ImportStep step, String dataset) {
        ImportStatus status = each.status().withProgress(progress(each, is));
        switch (step) {
            case ImportStep.Reserve _ -> cluster.reserve(each);
            case ImportStep.Fetch(var account) -> cluster.beginFetch(each, account);
            case ImportStep.Seal _ -> cluster.takeSnapshot(each);
            case ImportStep.Share(var account) -> {
                Set<String> readers = readers(account, each);
                cluster.share(dataset, each.status().readers(), readers);
                report(each, status.sharedWith(readers));
            }
            case ImportStep.Withdraw(var reason, var message) -> {
                Set<String> readers = stillWanted(each);
                cluster.withdraw(dataset, each.status().readers(), readers);
                report(each, status.sharedWith(readers).in(Phase.READY, reason, bounded(message)));
            }
            case ImportStep.Report(var phase, var reason, var message) ->
                report(each, status.in(phase, reason, bounded(message)));
            case ImportStep.Finish _ -> {
                String name = ImportAccounts.written(dataset);
                cluster.tell(each, false, "DatasetReady", "is dataset " + name);
                report(each, status.ready(name));
            }
            case ImportStep.Fail(var reason, var message) -> {
                LOG.info("{} has failed: {}: {}", each, reason, bounded(message));
                cluster.tell(each, true, reason, bounded(message));
                report(each, status.in(Phase.FAILED, reason, bounded(message)));
            }
            case ImportStep.RemoveSnapshot _ -> cluster.removeSnapshot(each);
            case ImportStep.RemoveFetch _ -> cluster.removeFetch(each);
            case ImportStep.RemoveClaim _ -> cluster.removeClaim(each);
            case ImportStep.Await _ -> {}
            case ImportStep.KeepRest(var reason, var message) ->
                // the readers went with the dataset; one that is declared again gets them again
                report(
                        each,
                        status.in(Phase.READY, reason, bounded(message))
                                .sharedWith(Set.of())
                                .usedBy(ImportStatus.DatasetUses.NONE)
                                .settledAt(each.generation()));
            case ImportStep.Settle _ -> report(each, settled(status, is).settledAt(each.generation()));
        }
    }

    /// A ready import whose readers are right again no longer says why they were not.
    private static ImportStatus settled(ImportStatus status, ObservedImport is) {
        return is.phase() == Phase.READY ? status.ready(status.dataset()) : status;
    }

    /// Returns what the fetcher has noted on the volume that it fills; what was known before if it has noted nothing.
    private FetchProgress progress(DatasetImport each, ObservedImport is) {
        if (is.fetch() instanceof FetchState.Running && is.claim() instanceof ClaimState.Bound(var volume, var path)) {
            return files.note(volume.cluster(), volume.fileSystem(), path, FetchProgress.NOTE)
                    .flatMap(FetchProgress::parse)
                    .orElse(each.status().progress());
        }
        return each.status().progress();
    }

    private void report(DatasetImport each, ImportStatus status) {
        if (!status.equals(each.status())) {
            cluster.report(each, status);
        }
    }

    /// Returns a text without control characters: parts of it may be a server's or a tenant's.
    static String bounded(String text) {
        String clean = text.replaceAll("\\p{Cntrl}+", " ").strip();
        return clean.length() <= MOST_MESSAGE ? clean : clean.substring(0, MOST_MESSAGE) + "...";
    }
}
