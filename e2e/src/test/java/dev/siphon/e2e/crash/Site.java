package dev.siphon.e2e.crash;

import csi.v1.CreateVolumeRequest;
import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/// One account with its own controller, which can crash, and a client of that controller.
final class Site implements AutoCloseable {
    private static final Duration RETRY_LIMIT = Duration.ofSeconds(90);
    private static final Duration CRASH_LIMIT = Duration.ofSeconds(60);
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(20);
    private static final int SIGKILLED = 137;
    private static final Set<Status.Code> RETRIED =
            Set.of(Status.Code.ABORTED, Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED);

    /// The part of an id before its name.
    private static final Pattern BEFORE_NAME = Pattern.compile(".*[:@]");

    /// The snapshot that exists while a volume is cloned; the clone's `.meta` of the mgr names it forever.
    private static final Pattern TRANSFER = Pattern.compile("\\bt[0-9a-v]{20}\\b");

    private final DriverFolder folder;
    private final CephTree tree;
    private final String owner;
    private final Map<String, String> ids = new LinkedHashMap<>();
    private ServedProcess controller;
    private CsiClient client;
    private String group = "";

    /// @param owner an account that nothing else uses meanwhile
    Site(DriverFolder folder, CephTree tree, String owner) {
        this.folder = folder;
        this.tree = tree;
        this.owner = owner;
        this.controller = CrashingController.start(folder);
        this.client = CsiClient.to(controller.endpoint());
    }

    String owner() {
        return owner;
    }

    /// Returns a request for an empty volume of this site's account.
    CreateVolumeRequest volume(String name) {
        return Requests.volume(name, owner, Requests.GIB);
    }

    /// Stores an id under the test's name for the object.
    void remember(String name, String id) {
        ids.put(name, id);
    }

    String id(String name) {
        String id = ids.get(name);
        if (id == null) {
            throw new IllegalStateException("nothing called " + name + " was made");
        }
        return id;
    }

    /// Retries a call as a sidecar would, on ABORTED, UNAVAILABLE and DEADLINE_EXCEEDED.
    ///
    /// @throws AssertionError on any other code, or if it does not succeed within 90 s
    <T> T call(Function<CsiClient, T> call) {
        long end = System.nanoTime() + RETRY_LIMIT.toNanos();
        while (true) {
            Outcome<T> outcome = Outcome.of(() -> call.apply(client));
            if (outcome.ok() || !RETRIED.contains(outcome.code()) || System.nanoTime() > end) {
                return outcome.get();
            }
            Await.pass(Duration.ofMillis(100));
        }
    }

    /// Makes a call once.
    <T> Outcome<T> attempt(Function<CsiClient, T> call) {
        return Outcome.of(() -> call.apply(client));
    }

    /// Kills the controller and starts another, with empty caches.
    void restart() {
        client.close();
        controller.kill();
        start();
    }

    /// Waits until the controller has crashed, and starts another.
    ///
    /// @throws AssertionError if it does not end, or does not end by SIGKILL
    void restartAfterCrash() {
        int exit = controller.awaitEnd(CRASH_LIMIT);
        if (exit != SIGKILLED) {
            throw new AssertionError("the controller ended with " + exit + ":\n" + controller.log());
        }
        client.close();
        CrashPlan.lift(folder());
        start();
    }

    private void start() {
        controller.close();
        controller = CrashingController.start(folder);
        client = CsiClient.to(controller.endpoint());
    }

    boolean isAlive() {
        return controller.isAlive();
    }

    /// Returns the folder for this controller's crash plans.
    Path folder() {
        return folder.file("");
    }

    /// Returns Ceph's state for this account. Names depend on the account: those of stored ids are replaced by the
    /// test's names, so that states of several accounts compare equal.
    List<String> state() {
        return tree.state(group()).stream().map(this::named).sorted().toList();
    }

    private String named(String line) {
        String named = TRANSFER.matcher(line).replaceAll("TRANSFER");
        for (Map.Entry<String, String> each : ids.entrySet()) {
            named = named.replace(BEFORE_NAME.matcher(each.getValue()).replaceFirst(""), each.getKey());
        }
        return named;
    }

    /// Waits until Ceph holds what it should, because the mgr cleans up after clones in the background.
    ///
    /// @throws AssertionError with the expected and the found state, if they still differ
    void awaitState(String what, List<String> expected) {
        long end = System.nanoTime() + SETTLE_LIMIT.toNanos();
        List<String> found = state();
        while (!found.equals(expected) && System.nanoTime() < end) {
            Await.pass(Duration.ofMillis(200));
            found = state();
        }
        if (!found.equals(expected)) {
            throw new AssertionError(what + ":\n  expected\n    " + String.join("\n    ", expected) + "\n  found\n    "
                    + String.join("\n    ", found));
        }
    }

    /// Removes the account's group behind the driver's back, as if the account had never had a volume.
    void removeGroup() {
        tree.removeGroup(group());
    }

    private String group() {
        if (group.isEmpty()) {
            String id = call(to -> to.controller().createVolume(volume("probe")))
                    .getVolume()
                    .getVolumeId();
            call(to -> to.controller().deleteVolume(Requests.delete(id)));
            group = ((VolumeId.Provisioned) VolumeId.parse(id)).group();
        }
        return group;
    }

    @Override
    public void close() {
        client.close();
        controller.close();
    }
}
