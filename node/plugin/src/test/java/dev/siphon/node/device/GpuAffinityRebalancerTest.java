package dev.siphon.node.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.MountedDatasets;
import dev.siphon.node.mount.MountedVolume;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.topology.RecordedMachine;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A machine with two sockets and two disks on each. `NearReplicasIT` covers what a tree does when it is moved.
@Timeout(30)
final class GpuAffinityRebalancerTest {
    private static final Digest DIGEST = new Digest("0123456789abcdef".repeat(4));
    private static final HeldDevice ON_ZERO = new HeldDevice("nvidia.com/gpu", List.of("GPU-x"), Set.of(0));
    private static final HeldDevice ON_ONE = new HeldDevice("nvidia.com/gpu", List.of("GPU-y"), Set.of(1));
    private static final HeldDevice NEAR_ONE_DISK = new HeldDevice("amd.com/gpu", List.of("0000:43:00.0"), Set.of(0));
    private static final List<Path> ZERO = List.of(disk(0), disk(1));
    private static final List<Path> ONE = List.of(disk(2), disk(3));

    @TempDir
    private Path folder = Path.of("");

    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final BlockingCalls calls = new BlockingCalls();
    private final Map<Pod, List<HeldDevice>> held = new HashMap<>();
    private final List<String> claimsAsked = new ArrayList<>();
    private final List<MountEntry> mounts = new ArrayList<>();
    private final List<List<Path>> followed = new ArrayList<>();
    private boolean silent;
    private Answer claims = new Answer.Held(List.of());
    private Optional<PodHealth> pods = Optional.empty();
    private Optional<GpuAffinityRebalancer> following = Optional.empty();

    /// A single tree that moves to any requested cache.
    private final class OneTree implements MountedDatasets {
        @Override
        public Path attach(Digest digest, Path image, Path manifest) {
            throw new AssertionError();
        }

        @Override
        public Path attachReplica(Digest digest, Path image, Path manifest) {
            throw new AssertionError();
        }

        @Override
        public void warm(Digest digest, Path image, Path manifest) {
            throw new AssertionError();
        }

        @Override
        public Optional<Nearby> chooseTree(Digest digest, List<Path> nearest) {
            throw new AssertionError();
        }

        @Override
        public Optional<Path> follow(Tree tree, List<Path> nearest) {
            followed.add(nearest);
            return Optional.of(nearest.getFirst());
        }

        @Override
        public void detach(Tree tree) {
            throw new AssertionError();
        }

        @Override
        public List<Tree> attached() {
            return List.of(new Tree(DIGEST, entry("7:0", "/state/datasets/x/any/mount")));
        }

        @Override
        public Optional<Source> source(MountEntry mount) {
            throw new AssertionError();
        }

        @Override
        public Optional<String> slowness(MountEntry mount) {
            throw new AssertionError();
        }

        @Override
        public Optional<String> problem(String beginning) {
            return Optional.empty();
        }

        @Override
        public Optional<MountedVolume> recognize(MountEntry entry) {
            return Optional.empty();
        }

        @Override
        public boolean mayForce(boolean dead) {
            return false;
        }

        @Override
        public void awaitEnd(MountEntry unmounted, Duration limit) {
            throw new AssertionError();
        }
    }

    private static Path disk(int number) {
        return Path.of("/mnt/nvme" + number + "/siphon");
    }

    private static MountEntry entry(String device, String at) {
        return new MountEntry(1, 1, device, "/", at, Set.of(), "erofs", "/dev/loop0", Set.of());
    }

    private static Pod pod(String namespace, String name) {
        return new Pod(namespace, name, "uid-of-" + namespace + "-" + name);
    }

    private GpuAffinityRebalancer following() {
        return following.orElseGet(() -> {
            PublishedPods published = new PublishedPods(folder.resolve("pods"));
            PodHealth health =
                    new PodHealth(published, (pod, event) -> events.add(pod.name() + " " + event.message()), metrics);
            Machine machine = new Machine(
                    RecordedMachine.in(folder, "two-sockets"), List.of(disk(0), disk(1), disk(2), disk(3)), calls);
            NearestCaches nearest = new NearestCaches(PodDevices.NOBODY, machine);
            RunningPodCaches running = new RunningPodCaches(
                    () -> silent ? Optional.empty() : Optional.of(held),
                    (pod, _) -> {
                        claimsAsked.add(pod.name());
                        return claims;
                    },
                    nearest);
            pods = Optional.of(health);
            following = Optional.of(new GpuAffinityRebalancer(
                    running,
                    new OneTree(),
                    published,
                    new DatasetPlacement(nearest, health, metrics),
                    () -> new MountTable(List.copyOf(mounts))));
            return following.get();
        });
    }

    /// Records that `device` is published to the pod.
    private void shown(Pod pod, String device) {
        following();
        String target = "/var/lib/kubelet/pods/" + pod.uid() + "/volumes/kubernetes.io~csi/data/mount";
        pods.orElseThrow().published(TargetPath.parse("target_path", target), Optional.of(pod));
        mounts.add(entry(device, target));
    }

    private void holds(String namespace, String name, HeldDevice... devices) {
        held.put(Pod.named(namespace, name), List.of(devices));
    }

    @AfterEach
    void close() {
        pods.ifPresent(PodHealth::close);
        calls.close();
    }

    private List<List<Path>> look() {
        followed.clear();
        following().rebalance();
        return List.copyOf(followed);
    }

    @Test
    void aTreeFollowsWhatItsPodsHoldNow() throws InterruptedException {
        shown(pod("u1", "train"), "7:0");
        holds("u1", "train", ON_ONE);
        assertEquals(List.of(ONE), look());
        assertEquals(
                "train dataset 0123456789ab has its replica in /mnt/nvme2/siphon, NODE, nearest to its GPUs (NUMA node 1)",
                events.poll(10, TimeUnit.SECONDS));
        holds("u1", "train", ON_ZERO);
        assertEquals(List.of(ZERO), look());
    }

    @Test
    void allPodsOfATreeHaveToAgree() {
        shown(pod("u1", "a"), "7:0");
        shown(pod("u1", "b"), "7:0");
        shown(pod("u1", "idle"), "7:0");
        holds("u1", "a", ON_ZERO);
        holds("u1", "b", NEAR_ONE_DISK);
        assertEquals(List.of(List.of(disk(1))), look(), "one without a GPU has no wish");
        holds("u1", "b", ON_ONE);
        assertEquals(List.of(), look());
    }

    @Test
    void whatOtherPodsHoldForOneCounts() {
        shown(pod("u1", "train"), "7:0");
        holds("u1", "train");
        holds("gpu-pool", "train-slave-pod-1a2b3c", ON_ONE);
        assertEquals(List.of(ONE), look());
        held.clear();
        holds("gpu-pool", "trainer-slave-pod-1a2b3c", ON_ONE);
        holds("u1", "train-slave-pod-1a2b3c", ON_ONE);
        assertEquals(List.of(), look(), "of another pod, or in a namespace of anybody");
    }

    @Test
    void whatIsHeldForOneOfTwoOfThatNameCountsForNeither() {
        shown(pod("u1", "train"), "7:0");
        shown(pod("u2", "train"), "7:0");
        holds("gpu-pool", "train-slave-pod-1a2b3c", ON_ONE);
        assertEquals(List.of(), look());
    }

    @Test
    void ofPodsWithoutAGpuClaimsAreReadOnce() {
        shown(pod("u1", "train"), "7:0");
        claims = new Answer.Unknown("it is silent");
        assertEquals(List.of(), look());
        claims = new Answer.Held(List.of(ON_ONE));
        assertEquals(List.of(ONE), look());
        assertEquals(List.of(ONE), look());
        assertEquals(List.of("train", "train"), claimsAsked);
    }

    @Test
    void whatARefusalHidIsReadOnceThatIsOver() {
        shown(pod("u1", "train"), "7:0");
        claims = new Answer.Refused("this node may not");
        assertEquals(List.of(), look());
        claims = new Answer.Held(List.of(ON_ONE));
        assertEquals(List.of(ONE), look());
        assertEquals(List.of("train", "train"), claimsAsked);
    }

    @Test
    void aPodWhoseClaimsARefusalHidesHoldsNobodyBack() {
        shown(pod("u1", "a"), "7:0");
        shown(pod("u1", "b"), "7:0");
        holds("u1", "a", ON_ONE);
        claims = new Answer.Refused("this node may not");
        assertEquals(List.of(ONE), look());
    }

    @Test
    void aPodOfWhichNothingIsKnownHoldsTheTree() {
        shown(pod("u1", "a"), "7:0");
        shown(pod("u1", "b"), "7:0");
        holds("u1", "a", ON_ONE);
        claims = new Answer.Unknown("it is silent");
        assertEquals(List.of(), look());
    }

    @Test
    void whereTheKubeletDoesNotAnswerNothingMoves() {
        shown(pod("u1", "train"), "7:0");
        holds("u1", "train", ON_ONE);
        silent = true;
        assertEquals(List.of(), look());
    }

    @Test
    void whatIsNoTreeFollowsNobody() {
        shown(pod("u1", "train"), "0:77");
        holds("u1", "train", ON_ONE);
        assertEquals(List.of(), look());
    }
}
