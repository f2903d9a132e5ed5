package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.LIMIT;
import static dev.siphon.node.replica.ReplicaNode.await;
import static dev.siphon.node.replica.ReplicaNode.scrubbing;
import static dev.siphon.node.replica.ReplicaNode.slowly;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.MountedDatasets.Nearby;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Pods whose devices are near different cache directories, on real loop devices.
class NearReplicasIT {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final GpuProximity FILLING = new GpuProximity(LONG, Duration.ofSeconds(20), true);
    private static final GpuProximity USING = new GpuProximity(LONG, Duration.ofSeconds(20), false);

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 90, 100_000);
    private final Path left = workplace.path("left");
    private final Path right = workplace.path("right");
    private Optional<Replicas> running = Optional.empty();

    @AfterEach
    void close() {
        stop();
        workplace.close();
        await(() -> "no device", () -> devices() == 0);
    }

    private void stop() {
        running.ifPresent(Replicas::close);
        running = Optional.empty();
    }

    private Replicas start(ReplicaPolicy policy, GpuProximity near, long rightLimit) {
        stop();
        Replicas started = Replicas.start(
                ReplicaNode.settings(
                        workplace.path("state"),
                        policy,
                        near,
                        new CacheDirectoryLimits(left, LIMIT, 100),
                        new CacheDirectoryLimits(right, rightLimit, 100)),
                new BackgroundTasks(),
                _ -> {});
        running = Optional.of(started);
        return started;
    }

    private Replicas start(GpuProximity near) {
        return start(FAST, near, LIMIT);
    }

    private long devices() {
        return LoopDevice.all(Set.of()).stream()
                .filter(status -> ImageMountKey.beginning(status.tag())
                        .equals(Optional.of(dataset.digest().beginning())))
                .count();
    }

    private Nearby near(Replicas replicas, Path... nearest) {
        return replicas.chooseTree(dataset.digest(), List.of(nearest)).orElseThrow();
    }

    /// Returns where each tree is read from.
    private static Map<Path, ReadLocation> places(Replicas replicas) {
        return replicas.attached().stream().collect(Collectors.toMap(ImageMount::tree, ImageMount::place));
    }

    private void awaitPlace(Replicas replicas, Path tree, ReadLocation place) {
        await(
                () -> tree + ": " + replicas.list(),
                () -> place.equals(places(replicas).get(tree)));
        assertTrue(dataset.isRight(tree));
    }

    private Path image(Path cache) {
        return cache.resolve(dataset.digest().hex()).resolve("image");
    }

    @Test
    void theFirstPodDecidesWhereTheReplicaIs() {
        Replicas replicas = start(FILLING);
        Path tree = replicas.attach(dataset.image()).tree();
        assertEquals(new Nearby(tree, List.of(right)), near(replicas, right));
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        assertEquals(new Nearby(tree, List.of(right)), near(replicas, right), "asked again");
        assertEquals(new Nearby(tree, List.of(right)), near(replicas, left, right), "as near");
        assertFalse(Files.exists(image(left)));
        assertEquals(1, devices());
    }

    @Test
    void noReplicaIsBegunBeforeAPodSaysWhere() {
        Replicas replicas = start(FILLING);
        Path tree = replicas.attach(dataset.image()).tree();
        assertTrue(dataset.isRight(tree)); // takes longer than a fill would
        assertEquals(new ReadLocation.Remote(), places(replicas).get(tree));
        assertEquals(0, replicas.counts().filledBytes().sum());
        assertEquals(
                Optional.empty(), replicas.chooseTree(dataset.digest(), List.of()), "one to which it does not matter");
        await(replicas.list()::toString, () -> places(replicas).get(tree) instanceof ReadLocation.Local);
    }

    @Test
    void aPodThatSaysNothingIsNotWaitedForForEver() {
        Replicas replicas = start(new GpuProximity(Duration.ofMillis(100), LONG, true));
        Path tree = replicas.attach(dataset.image()).tree();
        await(replicas.list()::toString, () -> places(replicas).get(tree) instanceof ReadLocation.Local);
    }

    @Test
    void aPodThatIsElsewhereGetsAReplicaOfItsOwn() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        Path first = near(replicas, left).tree();
        assertEquals(common, first);
        Nearby other = near(replicas, right);
        assertEquals(List.of(right), other.replicaDirectories());
        assertNotEquals(common, other.tree());
        assertEquals(other, near(replicas, right), "another pod there");
        assertTrue(dataset.isRight(other.tree()), "at once");
        awaitPlace(replicas, other.tree(), new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(2, devices());
        assertEquals(
                List.of(new ReplicaState.Local(left), new ReplicaState.Local(right)),
                replicas.list().stream().map(ReplicaStatus::state).toList());

        replicas.detach(ImageMountKey.at(dataset.digest(), right));
        await(() -> "one device", () -> devices() == 1);
        assertTrue(dataset.isRight(common));
        assertEquals(other, near(replicas, right), "the replica is there still");
        awaitPlace(replicas, other.tree(), new ReadLocation.Local(right));
    }

    /// Meanwhile it reads the other replica, and nothing but time wakes the dataset: the next scrub is a day away.
    @Test
    void aTreeReturnsToItsFailedDiskWhenThatIsTriedAgain() throws IOException {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        Path away = workplace.path("away");
        Files.move(right, away);
        Files.createFile(right); // the driver would create a missing directory
        replicas.list(); // meets the error
        awaitPlace(replicas, tree, new ReadLocation.Local(left));
        Files.move(away, right, StandardCopyOption.REPLACE_EXISTING);
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
    }

    @Test
    void untilItsOwnReplicaIsThereAPodReadsTheOther() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        replicas = start(slowly(0.01), FILLING, LIMIT);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(left));
        assertFalse(Files.exists(image(right)));
    }

    @Test
    void whereThatIsNotWantedEveryPodReadsTheOne() {
        Replicas replicas = start(USING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(new Nearby(common, List.of(left)), near(replicas, right));
        assertEquals(1, devices());
    }

    @Test
    void whereThereIsNoRoomEveryPodReadsTheOne() {
        Replicas replicas = start(FAST, FILLING, dataset.manifest().imageBytes() - 1);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(new Nearby(common, List.of(left)), near(replicas, right));
        assertEquals(1, devices());
        assertEquals(Optional.empty(), replicas.list().getFirst().problem());
    }

    @Test
    void aFirstReplicaGoesElsewhereWhereThereIsNoRoomNearThePod() {
        Replicas replicas = start(FAST, FILLING, dataset.manifest().imageBytes() - 1);
        Path common = replicas.attach(dataset.image()).tree();
        assertEquals(new Nearby(common, List.of(left)), near(replicas, right), "what the pod is told");
        awaitPlace(replicas, common, new ReadLocation.Local(left));
    }

    @Test
    void whereThereIsNoRoomForTheFirstPodsReplicaTheOthersIsRead() {
        Replicas replicas = start(FAST, FILLING, dataset.manifest().imageBytes() - 1);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, right);
        Path tree = near(replicas, left).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(left));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        await(replicas.list()::toString, () -> replicas.list().size() == 1);
        assertEquals(Optional.empty(), replicas.list().getFirst().problem());
    }

    @Test
    void bothSurviveARestart() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        Replicas next = start(FILLING);
        awaitPlace(next, tree, new ReadLocation.Local(right));
        awaitPlace(next, common, new ReadLocation.Local(left));
        assertEquals(tree, near(next, right).tree());
        assertEquals(common, near(next, left).tree());
        assertEquals(2, devices());
    }

    @Test
    void aFillForAPodElsewhereGoesOnAfterARestart() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        replicas = start(slowly(0.01), FILLING, LIMIT);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(left));
        Replicas next = start(FILLING);
        awaitPlace(next, tree, new ReadLocation.Local(right));
    }

    @Test
    void anEvictionPutsBothBackOverTheImage() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        replicas.evict(dataset.digest());
        assertEquals(Map.of(common, new ReadLocation.Remote(), tree, new ReadLocation.Remote()), places(replicas));
        assertTrue(dataset.isRight(common));
        assertTrue(dataset.isRight(tree));
        assertFalse(Files.exists(image(left)));
        assertFalse(Files.exists(image(right)));
    }

    @Test
    void aDamagedReplicaIsLeftForTheOtherAndMadeAnew() {
        Replicas replicas = start(scrubbing(Duration.ofMillis(50)), FILLING, LIMIT);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        long before = replicas.counts().fills().sum();
        TestDataset.flip(image(right), 5_000_000);
        await(replicas.list()::toString, () -> replicas.counts().fills().sum() == before + 1);
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
    }

    @Test
    void ofTwoReplicasThatAreThereAPodIsShownTheNearest() {
        Replicas replicas = start(FILLING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        Path tree = near(replicas, right).tree();
        awaitPlace(replicas, tree, new ReadLocation.Local(right));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        replicas.detach(ImageMountKey.at(dataset.digest(), right));
        replicas.detach(ImageMountKey.anywhere(dataset.digest()));
        for (Path nearest : List.of(left, right, left)) {
            replicas.attach(dataset.image());
            Path shown = near(replicas, nearest).tree();
            awaitPlace(replicas, shown, new ReadLocation.Local(nearest));
            replicas.attached().forEach(each -> replicas.detach(each.key()));
        }
    }

    private Replicas withCommonTreeAt(Path cache, long rightLimit) {
        Replicas replicas = start(FAST, FILLING, rightLimit);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, cache);
        awaitPlace(replicas, common, new ReadLocation.Local(cache));
        return replicas;
    }

    @Test
    void theCommonTreesReplicaFollowsUnderItsReadersAndStaysThere() {
        Replicas replicas = withCommonTreeAt(left, LIMIT);
        Path common = replicas.attach(dataset.image()).tree();
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(left)), "it is there");
        assertEquals(Optional.of(right), replicas.follow(dataset.digest(), List.of(right)));
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(right)), "it is on its way");
        assertTrue(dataset.isRight(common), "meanwhile");
        awaitPlace(replicas, common, new ReadLocation.Local(right));
        assertTrue(Files.exists(image(left)), "until its room is wanted");
        Replicas next = start(FILLING);
        awaitPlace(next, common, new ReadLocation.Local(right));
        assertEquals(Optional.empty(), next.follow(dataset.digest(), List.of(right)));
        assertEquals(Optional.of(left), next.follow(dataset.digest(), List.of(left)), "back, where one is still");
        awaitPlace(next, common, new ReadLocation.Local(left));
        assertEquals(1, devices());
    }

    @Test
    void aMoveIsGivenUpWhenWhatItWasForIsTakenAway() {
        Replicas replicas = withCommonTreeAt(left, LIMIT);
        Path common = replicas.attach(dataset.image()).tree();
        replicas = start(slowly(0.01), FILLING, LIMIT);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(Optional.of(right), replicas.follow(dataset.digest(), List.of(right)));
        assertEquals(Optional.of(left), replicas.follow(dataset.digest(), List.of(left)));
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(left)), "it is there");
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(Optional.of(right), replicas.follow(dataset.digest(), List.of(right)), "and comes again");
    }

    @Test
    void whereThereIsNoRoomNothingFollows() {
        Replicas replicas = withCommonTreeAt(left, dataset.manifest().imageBytes() - 1);
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(right)));
        assertEquals(1, replicas.list().size());
    }

    @Test
    void whereSecondReplicasAreNotWantedNothingFollows() {
        Replicas replicas = start(USING);
        Path common = replicas.attach(dataset.image()).tree();
        near(replicas, left);
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(right)));
    }

    @Test
    void whatWasEvictedStaysSo() {
        Replicas replicas = withCommonTreeAt(left, LIMIT);
        replicas.evict(dataset.digest());
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(right)));
    }

    @Test
    void anEvictionEndsAMoveThatIsNotDone() {
        Replicas replicas = withCommonTreeAt(left, LIMIT);
        Path common = replicas.attach(dataset.image()).tree();
        replicas = start(slowly(0.01), FILLING, LIMIT);
        assertEquals(Optional.of(right), replicas.follow(dataset.digest(), List.of(right)));
        awaitPlace(replicas, common, new ReadLocation.Local(left));
        replicas.evict(dataset.digest());
        assertEquals(Map.of(common, new ReadLocation.Remote()), places(replicas));
        assertTrue(dataset.isRight(common));
    }

    @Test
    void whatIsNotAttachedFollowsNobody() {
        Replicas replicas = start(FILLING);
        assertEquals(Optional.empty(), replicas.follow(dataset.digest(), List.of(left)));
    }

    @Test
    void whatIsNotAttachedIsShownToNobody() {
        Replicas replicas = start(FILLING);
        assertEquals(Optional.empty(), replicas.chooseTree(dataset.digest(), List.of(left)));
    }
}
