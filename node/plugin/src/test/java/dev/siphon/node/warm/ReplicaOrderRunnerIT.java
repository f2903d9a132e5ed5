package dev.siphon.node.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.PinnedImages;
import dev.siphon.node.replica.ErofsSelection;
import dev.siphon.node.replica.FillTurns;
import dev.siphon.node.replica.GpuProximity;
import dev.siphon.node.replica.ReplicaPlacement;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.ReplicaSettings;
import dev.siphon.node.replica.Replicas;
import dev.siphon.node.replica.TestDataset;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Runs orders on real replicas. The test plays the controller and mounts the image.
@Timeout(120)
final class ReplicaOrderRunnerIT {
    private static final String SECRET = "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==";
    private static final String NAME = "u1.x.node-1-01234567";

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 40, 100_000);
    private final Path cache = workplace.path("cache");
    private final VolumeId.DatasetVolume volume = volumeOf(dataset);
    private final Board board = new Board();
    private final Images images = new Images();
    private FillTurns turns = new FillTurns(false, System::nanoTime);
    private Optional<Replicas> running = Optional.empty();
    private Optional<ReplicaOrderRunner> warmer = Optional.empty();

    /// Records reports, as the controller.
    private static final class Board implements ReplicaOrders {
        private final LinkedBlockingQueue<Report> reports = new LinkedBlockingQueue<>();
        private final Map<String, Report> last = new ConcurrentHashMap<>();
        private volatile boolean silent;

        @Override
        public Following follow(Follower follower) {
            return () -> {};
        }

        @Override
        public void report(String name, Report report) {
            if (silent) {
                throw new DriverException.BackendUnavailable("the API server is silent");
            }
            last.put(name, report);
            reports.add(report);
        }

        Report await(Predicate<Report> wanted) throws InterruptedException {
            while (true) {
                Report next =
                        Optional.ofNullable(reports.poll(60, TimeUnit.SECONDS)).orElseThrow();
                if (wanted.test(next)) {
                    return next;
                }
            }
        }

        Report await(State state) throws InterruptedException {
            return await(report -> report.state() == state);
        }
    }

    private static VolumeId.DatasetVolume volumeOf(TestDataset dataset) {
        return new VolumeId.DatasetVolume(
                "lab", "cephfs", dataset.digest().beginning(), Optional.empty(), "/datasets/x");
    }

    /// Makes an image available when it is pinned, and records the key.
    private final class Images implements PinnedImages {
        private final List<CephCredentials> credentials = new CopyOnWriteArrayList<>();
        private final List<TestDataset> known = new CopyOnWriteArrayList<>(List.of(dataset));
        private volatile boolean held;

        @Override
        public Digest pin(
                VolumeId.DatasetVolume wanted,
                Object holder,
                VolumeContext context,
                CephCredentials key,
                Duration limit) {
            TestDataset of = known.stream()
                    .filter(each -> volumeOf(each).equals(wanted))
                    .findFirst()
                    .orElseThrow();
            credentials.add(key);
            held = true;
            running.orElseThrow().warm(of.image());
            return of.digest();
        }

        @Override
        public void unpin(VolumeId.DatasetVolume wanted, Object holder, Duration limit) {
            held = false;
        }
    }

    @AfterEach
    void close() {
        stop();
        workplace.close();
    }

    private void stop() {
        warmer.ifPresent(ReplicaOrderRunner::close);
        running.ifPresent(Replicas::close);
        warmer = Optional.empty();
        running = Optional.empty();
    }

    private ReplicaOrderRunner start(List<CacheDirectoryLimits> caches) {
        stop();
        Replicas replicas = Replicas.start(
                new ReplicaSettings(
                        workplace.path("state"),
                        caches,
                        ReplicaPlacement.mostFree(),
                        ReplicaPolicy.usual(),
                        new GpuProximity(Duration.ZERO, Duration.ofSeconds(20), true),
                        ErofsSelection.ofThisNode()),
                new BackgroundTasks(),
                _ -> {},
                turns);
        running = Optional.of(replicas);
        ReplicaOrderRunner started = new ReplicaOrderRunner(board, images, replicas, turns).start();
        warmer = Optional.of(started);
        return started;
    }

    private ReplicaOrderRunner start() {
        return start(List.of(new CacheDirectoryLimits(cache, 1L << 30, 100)));
    }

    private Order order(boolean wanted, Optional<DatasetAccess.Answer> access) {
        return order(volume, wanted, access);
    }

    private static Order order(VolumeId.DatasetVolume of, boolean wanted, Optional<DatasetAccess.Answer> access) {
        return new Order("u1.x", "node-1", of, wanted, access);
    }

    private Order answered(Report asking) {
        return answered(volume, asking);
    }

    private static Order answered(VolumeId.DatasetVolume of, Report asking) {
        DatasetReplica.Question question = asking.question().orElseThrow();
        VolumeContext context = VolumeContext.fromMap(of, Map.of("monitors", "10.0.0.1:3300"));
        return order(
                of,
                true,
                Optional.of(DatasetAccess.Given.encrypt(
                        question.request(), question.publicKey(), of, context, "siphon-dataset.x", SECRET)));
    }

    private boolean isOnDisk() {
        return isOnDisk(dataset);
    }

    private boolean isOnDisk(TestDataset which) {
        return Files.exists(cache.resolve(which.digest().hex()).resolve("image"));
    }

    private void fill(ReplicaOrderRunner orderRunner) throws InterruptedException {
        orderRunner.all(Map.of(NAME, order(true, Optional.empty())));
        orderRunner.changed(NAME, answered(board.await(State.WAITING)));
        board.await(State.LOCAL);
    }

    @Test
    void whatIsWantedIsFilledWithTheKeyThatWasSealedForIt() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start();
        fill(orderRunner);
        assertTrue(isOnDisk());
        assertEquals(SECRET, images.credentials.getFirst().key().reveal());
        assertEquals("siphon-dataset.x", images.credentials.getFirst().userId());
        assertEquals(false, images.held, "nobody needs the image any more");
        assertEquals(
                Optional.of(cache.toString()),
                Optional.ofNullable(board.last.get(NAME)).orElseThrow().cacheDirectory());
    }

    @Test
    void whatIsThereAlreadyNeedsNoKey() throws InterruptedException {
        fill(start());
        board.reports.clear();
        start().all(Map.of(NAME, order(true, Optional.empty())));
        assertEquals(State.LOCAL, board.await(_ -> true).state());
        assertEquals(1, images.credentials.size());
    }

    @Test
    void whatIsNotWantedIsOnlyReportedOn() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start();
        orderRunner.all(Map.of(NAME, order(false, Optional.empty())));
        assertEquals(Report.of(State.ABSENT), board.await(_ -> true));
        orderRunner.all(Map.of());
        fill(orderRunner);
        orderRunner.changed(NAME, order(false, Optional.empty()));
        running.orElseThrow().evict(dataset.digest());
        board.await(State.ABSENT);
        assertEquals(1, images.credentials.size());
    }

    private Order refused(String request) {
        return order(
                true,
                Optional.of(
                        new DatasetAccess.Refused(request, new DriverException.NotFound("there is no dataset u1.x"))));
    }

    @Test
    void whyTheControllerRefusesIsSaidAndItIsAskedAgain() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start();
        orderRunner.all(Map.of(NAME, order(true, Optional.empty())));
        String request = board.await(State.WAITING).question().orElseThrow().request();
        orderRunner.changed(NAME, refused(request));
        assertEquals(
                Optional.of("there is no dataset u1.x"),
                board.await(State.FAILED).message());
        long since = System.nanoTime();
        orderRunner.changed(NAME, refused(request)); // the watch event that follows the report
        Report again = board.await(report -> report.question().isPresent());
        assertTrue(System.nanoTime() - since > Duration.ofSeconds(4).toNanos(), "nobody is asked in a hurry");
        assertEquals(State.FAILED, again.state(), "until it goes right");
        assertEquals(Optional.of("there is no dataset u1.x"), again.message());
        orderRunner.changed(NAME, answered(again));
        board.await(State.LOCAL);
    }

    @Test
    void anAnswerToAnotherQuestionIsNone() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start();
        orderRunner.all(Map.of(NAME, order(true, Optional.empty())));
        Report first = board.await(State.WAITING);
        orderRunner.changed(
                NAME,
                order(
                        true,
                        Optional.of(new DatasetAccess.Refused("another", new DriverException.NotFound("not asked")))));
        orderRunner.changed(NAME, answered(first));
        board.await(report -> {
            assertEquals(Optional.empty(), report.message());
            return report.state() == State.LOCAL;
        });
    }

    @Test
    void aNodeWithoutDisksAsksForNoKey() throws InterruptedException {
        start(List.of()).all(Map.of(NAME, order(true, Optional.empty())));
        assertTrue(board.await(_ -> true).message().orElseThrow().contains("no cache directory"));
        assertEquals(List.of(), images.credentials);
    }

    @Test
    void aDiskThatIsFullIsSaid() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start(List.of(new CacheDirectoryLimits(cache, 1 << 20, 100)));
        orderRunner.all(Map.of(NAME, order(true, Optional.empty())));
        orderRunner.changed(NAME, answered(board.await(State.WAITING)));
        assertTrue(board.await(State.FAILED).message().orElseThrow().contains("no cache directory has room"));
    }

    @Test
    void whatIsOrderedMakesNoRoomForOthersUntilItIsOrderedNoMore() throws Exception {
        TestDataset other = another();
        ReplicaOrderRunner orderRunner = startWithRoomForOne();
        fill(orderRunner);
        Replicas replicas = running.orElseThrow();
        replicas.warm(other.image());
        String refused = assertThrows(DriverException.QuotaExhausted.class, () -> warm(replicas, other))
                .getMessage();
        assertTrue(refused.contains("ordered by a DatasetReplica"), refused);
        assertTrue(isOnDisk());
        orderRunner.gone(NAME);
        untilItMakesRoomFor(other, replicas);
    }

    private TestDataset another() {
        TestDataset other = TestDataset.create(workplace, "two", 40, 100_000);
        images.known.add(other);
        return other;
    }

    private ReplicaOrderRunner startWithRoomForOne() throws IOException {
        return start(List.of(
                new CacheDirectoryLimits(cache, Files.size(dataset.image().image()) * 3 / 2, 100)));
    }

    private void untilItMakesRoomFor(TestDataset other, Replicas replicas) {
        while (isOnDisk()) {
            try {
                warm(replicas, other);
            } catch (DriverException.QuotaExhausted _) {
                Thread.onSpinWait(); // the order's end has not arrived yet
            }
        }
    }

    @Test
    void anOrderThatComesWithAnotherVolumeKeepsTheFirstNoMore() throws Exception {
        TestDataset other = another();
        ReplicaOrderRunner orderRunner = startWithRoomForOne();
        fill(orderRunner);
        orderRunner.all(Map.of(NAME, order(volumeOf(other), true, Optional.empty())));
        orderRunner.changed(NAME, answered(volumeOf(other), board.await(State.WAITING)));
        assertEquals(
                State.LOCAL,
                board.await(report -> report.state() != State.FILLING).state());
        assertTrue(isOnDisk(other) && !isOnDisk());
    }

    @Test
    void whatTwoOrdersKeepIsKeptUntilBothAreNoMore() throws Exception {
        TestDataset other = another();
        ReplicaOrderRunner orderRunner = startWithRoomForOne();
        fill(orderRunner);
        Replicas replicas = running.orElseThrow();
        String second = "u2.y.node-1-89abcdef";
        orderRunner.changed(second, order(true, Optional.empty()));
        board.await(State.LOCAL);
        orderRunner.changed(second, order(volumeOf(other), true, Optional.empty()));
        board.await(State.WAITING); // it has released the replica by now
        replicas.warm(other.image());
        assertThrows(DriverException.QuotaExhausted.class, () -> warm(replicas, other));
        orderRunner.gone(NAME);
        untilItMakesRoomFor(other, replicas);
    }

    private static void warm(Replicas replicas, TestDataset wanted) {
        replicas.warm(wanted.digest(), Duration.ofSeconds(60), _ -> {}, () -> false);
    }

    @Test
    void anOrderThatIsGoneLetsItsImageGo() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start(List.of(new CacheDirectoryLimits(cache, 1 << 20, 100)));
        orderRunner.all(Map.of(NAME, order(true, Optional.empty())));
        orderRunner.changed(NAME, answered(board.await(State.WAITING)));
        board.await(State.FAILED);
        assertTrue(images.held);
        orderRunner.gone(NAME);
        while (images.held) {
            Thread.onSpinWait();
        }
        assertEquals(1, images.credentials.size());
    }

    @Test
    void whatCannotBeSaidNowIsSaidLater() throws InterruptedException {
        ReplicaOrderRunner orderRunner = start();
        board.silent = true;
        orderRunner.all(Map.of(NAME, order(false, Optional.empty())));
        board.silent = false;
        orderRunner.changed(
                NAME, order(false, Optional.of(new DatasetAccess.Refused("1", new DriverException.InUse("")))));
        assertEquals(State.ABSENT, board.await(_ -> true).state());
    }
}
