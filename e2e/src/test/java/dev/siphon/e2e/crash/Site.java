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

/// One account with a controller of its own that can be crashed, and the caller that talks to it.
final class Site implements AutoCloseable {
    private static final Duration RETRY_LIMIT = Duration.ofSeconds(90);
    private static final Duration CRASH_LIMIT = Duration.ofSeconds(60);
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(20);
    private static final int SIGKILLED = 137;
    private static final Set<Status.Code> RETRIED =
            Set.of(Status.Code.ABORTED, Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED);

    /// What stands before the name that an id ends with.
    private static final Pattern BEFORE_NAME = Pattern.compile(".*[:@]");

    /// The snapshot that lives while a volume is cloned; the mgr's `.meta` of the clone names it for ever.
    private static final Pattern TRANSFER = Pattern.compile("\\bt[0-9a-v]{20}\\b");

    private final DriverFolder folder;
    private final CephTree tree;
    private final String owner;
    private final Map<String, String> ids = new LinkedHashMap<>();
    private ServedProcess controller;
    private CsiClient client;
    private String group = "";

    /// @param owner the account that nobody else uses meanwhile
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

    /// An empty volume of this site's account.
    CreateVolumeRequest volume(String name) {
        return Requests.volume(name, owner, Requests.GIB);
    }

    /// Remembers the id of something under a name of the test's.
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

    /// Makes a call until it succeeds, as a sidecar would: again after ABORTED, UNAVAILABLE and DEADLINE_EXCEEDED.
    ///
    /// @throws AssertionError on any other code, or if it has not succeeded after 90 s
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

    /// Ends the controller and starts another, which knows nothing of what the first one knew.
    void restart() {
        client.close();
        controller.kill();
        start();
    }

    /// Waits until the controller has crashed, and starts another.
    ///
    /// @throws AssertionError if it has not, or by something else than the plan
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

    /// Where crash plans for this controller lie.
    Path folder() {
        return folder.file("");
    }

    /// Everything that Ceph holds for this account. Names are functions of the account: those of what was remembered
    /// are written as the test calls it, so that states of several accounts can be compared.
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

    /// Waits until Ceph holds what it should: the mgr tidies up after clones by itself.
    ///
    /// @throws AssertionError with what is different, if that does not come
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
