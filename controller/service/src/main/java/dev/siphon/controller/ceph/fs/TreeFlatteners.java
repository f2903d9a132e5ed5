package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Flattens trees, serving accounts in turn. When a caller's deadline passes, the progress is kept for the next
/// caller ([FlatteningProgress]).
final class TreeFlatteners {
    private static final Logger LOG = LoggerFactory.getLogger(TreeFlatteners.class);
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private static final String OPERATION = "flatten tree";

    /// Concurrent turns per cluster: the MDS has others to serve.
    private static final int AT_ONCE = 2;

    private static final Duration TURN = Duration.ofSeconds(1);

    /// Time for work without a turn; most trees are done by then.
    private static final Duration FIRST = Duration.ofMillis(250);

    /// Time that a caller needs afterwards.
    private static final Duration RESERVE = Duration.ofSeconds(5);

    private final CephFileSystems fileSystems;
    private final Supplier<Duration> timeLeft;
    private final Map<String, FairSemaphore> turns = new ConcurrentHashMap<>();

    private final FlatteningProgress unfinished = new FlatteningProgress(System::nanoTime);
    private final OutstandingCalls calls = new OutstandingCalls(System::nanoTime);

    /// @param timeLeft how long the caller on this thread still waits
    TreeFlatteners(CephFileSystems fileSystems, Supplier<Duration> timeLeft) {
        this.fileSystems = fileSystems;
        this.timeLeft = timeLeft;
    }

    /// See [dev.siphon.controller.volume.FileTree#flatten].
    void flatten(VolumeId.Provisioned volume) {
        // A client that does not respond would hold a call here for long: this probe makes only its account wait.
        fileSystems.probes().beforeRemoval(volume);
        CephFs client = fileSystems.forRemovals(volume.cluster(), volume.fileSystem());
        List<TreeFlattener> begun = ReconnectingHandle.unlessNothingIsThere(
                List.of(),
                () -> client.call(
                        OPERATION, mount -> calls.run(SubvolumeGroup.of(volume), () -> begin(mount, volume))));
        begun.forEach(tree -> continueFlattening(client, volume, tree));
    }

    /// Starts without a turn.
    ///
    /// @return the trees that are not done
    private List<TreeFlattener> begin(Mount mount, VolumeId.Provisioned volume) {
        return dataDirectories(mount, volume).stream()
                .map(path -> unfinished.of(volume, path))
                .filter(tree -> !isDone(mount, tree, volume, FIRST, false))
                .toList();
    }

    /// Returns the paths of the mgr's data directories: one, or none.
    private static List<String> dataDirectories(Mount mount, VolumeId.Provisioned volume) {
        String subvolume = SubvolumeGroup.pathOf(volume);
        List<String> found = new ArrayList<>();
        try {
            mount.openDirectory(mount.locate(subvolume)).close();
            mount.list(mount.locate(subvolume), entry -> {
                if (entry.isDirectory() && UUID.matcher(entry.name().bytes()).matches()) {
                    found.add(subvolume + "/" + entry.name().bytes());
                }
            });
        } catch (DriverException.NotFound gone) {
            return List.of();
        }
        return found;
    }

    private void continueFlattening(CephFs client, VolumeId.Provisioned volume, TreeFlattener tree) {
        FairSemaphore ofCluster = turns.computeIfAbsent(volume.cluster(), _ -> new FairSemaphore(AT_ONCE));
        boolean done = false;
        while (!done) {
            Duration patience = timeLeft.get().minus(RESERVE);
            if (!patience.isPositive()) {
                throw notYet(volume, tree);
            }
            done = ofCluster
                    .take(
                            volume.group(),
                            patience,
                            () -> client.call(
                                    OPERATION,
                                    mount -> calls.run(
                                            SubvolumeGroup.of(volume), () -> isDone(mount, tree, volume, TURN, true))))
                    .orElseThrow(() -> notYet(volume, tree));
        }
    }

    private boolean isDone(
            Mount mount, TreeFlattener tree, VolumeId.Provisioned volume, Duration slice, boolean mayMove) {
        if (!tree.work(mount, System.nanoTime() + slice.toNanos(), mayMove)) {
            return false;
        }
        unfinished.remove(volume, tree);
        if (tree.moved() + tree.left() > 0) {
            LOG.atLevel(tree.left() > 0 ? Level.WARN : Level.INFO)
                    .addKeyValue("volume", volume)
                    .addKeyValue("seen", tree.seen())
                    .addKeyValue("moved", tree.moved())
                    .addKeyValue("left", tree.left())
                    .log("deep directories were moved to the top of the volume before it is removed");
        }
        return true;
    }

    private static DriverException.OperationPending notYet(VolumeId.Provisioned volume, TreeFlattener tree) {
        return new DriverException.OperationPending(
                "volume " + volume + " is searched for deep directories before it is removed: " + tree.seen()
                        + " looked into, " + tree.moved() + " moved; retry");
    }
}
