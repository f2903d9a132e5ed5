package dev.siphon.e2e.crash;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Kills the controller before and after each call to Ceph that an RPC makes, restarts it and retries the RPC. Ceph
/// must then hold exactly what it holds without a kill.
@Tag("slow")
@ExtendWith(LeavesNothingBehind.class)
final class CrashSafetyIT {
    /// The number of workers, each with its own account; most of a crash point's time is a controller's start.
    private static final int SITES = 3;

    @ParameterizedTest
    @MethodSource("dev.siphon.e2e.crash.Scenario#ofVolumes")
    void volumes(Scenario scenario) {
        everyPoint(scenario);
    }

    @ParameterizedTest
    @MethodSource("dev.siphon.e2e.crash.Scenario#ofSnapshots")
    void snapshots(Scenario scenario) {
        everyPoint(scenario);
    }

    @ParameterizedTest
    @MethodSource("dev.siphon.e2e.crash.Scenario#ofContents")
    void contents(Scenario scenario) {
        everyPoint(scenario);
    }

    private static void everyPoint(Scenario scenario) {
        try (CephTree tree = CephTree.mount(Lab.here());
                ExecutorService threads = Executors.newFixedThreadPool(SITES)) {
            Queue<CrashPlan> points = new ConcurrentLinkedQueue<>();
            Undisturbed undisturbed;
            try (DriverFolder folder = DriverFolder.create();
                    Site site = new Site(folder, tree, "u1")) {
                undisturbed = undisturbed(scenario, site);
            }
            assertFalse(undisturbed.calls.isEmpty(), "the RPC calls Ceph");
            for (int number = 1; number <= undisturbed.calls.size(); number++) {
                points.add(new CrashPlan(number, CrashPlan.When.BEFORE));
                points.add(new CrashPlan(number, CrashPlan.When.AFTER));
            }
            List<Future<List<AssertionError>>> workers = new ArrayList<>();
            for (int i = 1; i <= SITES; i++) {
                String owner = "u" + i;
                workers.add(threads.submit(() -> work(scenario, undisturbed, points, tree, owner)));
            }
            List<AssertionError> failures = new ArrayList<>();
            for (Future<List<AssertionError>> worker : workers) {
                failures.addAll(worker.get());
            }
            assertAll(failures.stream().map(failure -> () -> {
                throw failure;
            }));
        } catch (ExecutionException e) {
            throw new AssertionError("a worker broke off", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /// The run without a kill.
    ///
    /// @param before Ceph's state after undoing the RPC and its preconditions
    /// @param calls that the RPC makes to Ceph, in order
    /// @param after Ceph's state after the RPC
    private record Undisturbed(List<String> before, List<String> calls, List<String> after) {}

    private static Undisturbed undisturbed(Scenario scenario, Site site) {
        List<String> before = site.state();
        arrange(scenario, site);
        CrashPlan.NEVER.lay(site.folder());
        site.call(client -> act(scenario, site, client));
        List<String> calls = CrashPlan.lift(site.folder());
        List<String> after = site.state();
        scenario.undo().accept(site);
        site.awaitState("undoing " + scenario, before);
        return new Undisturbed(before, calls, after);
    }

    private static List<AssertionError> work(
            Scenario scenario, Undisturbed undisturbed, Queue<CrashPlan> points, CephTree tree, String owner) {
        List<AssertionError> failures = new ArrayList<>();
        try (DriverFolder folder = DriverFolder.create();
                Site site = new Site(folder, tree, owner)) {
            for (CrashPlan point = points.poll(); point != null; point = points.poll()) {
                String where =
                        scenario + ", killed " + point.when() + " call " + point.number() + " of " + undisturbed.calls;
                try {
                    crash(scenario, undisturbed, site, point, where);
                } catch (AssertionError e) {
                    // the leftovers of this point would also fail this account's next ones
                    failures.add(new AssertionError(where + ": " + e.getMessage(), e));
                    return failures;
                }
            }
        }
        return failures;
    }

    private static void crash(Scenario scenario, Undisturbed undisturbed, Site site, CrashPlan point, String where) {
        arrange(scenario, site);
        point.lay(site.folder());
        Outcome<?> outcome = site.attempt(client -> act(scenario, site, client));
        if (outcome.ok()) {
            throw new AssertionError("the controller was not killed; it called " + CrashPlan.lift(site.folder()));
        }
        site.restartAfterCrash();
        site.call(client -> act(scenario, site, client));
        site.awaitState("after the retry, " + where, undisturbed.after);
        scenario.undo().accept(site);
        site.awaitState("after all is undone, " + where, undisturbed.before);
    }

    private static void arrange(Scenario scenario, Site site) {
        scenario.arrange().accept(site);
        if (scenario.fresh()) {
            site.restart();
        }
    }

    private static String act(Scenario scenario, Site site, CsiClient client) {
        scenario.act().call(site, client);
        return scenario.name();
    }
}
