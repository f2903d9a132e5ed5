package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.replica.ObservedReplicas.Disk;
import dev.siphon.node.replica.ObservedReplicas.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/// A dataset on a node with two cache directories, in every situation that can occur. A situation is a number, which
/// the model turns into what is and what is wanted; a step turns it into another one.
///
/// Disks and CephFS stay as they are: that a disk fails or recovers is another situation to begin with.
@SuppressWarnings("EnumOrdinal") // a situation is a number
final class ReplicaModel {
    static final Instant NOW = Instant.ofEpochSecond(1_000_000);

    /// When a disk that is not usable is tried again.
    static final Instant RETRY = NOW.plusSeconds(600);

    static final Duration PERIOD = Duration.ofDays(1);
    static final List<Path> CACHES = List.of(Path.of("/a"), Path.of("/b"));

    /// The tree of a cache directory has the number of that; the common tree has this one.
    static final int COMMON = 2;

    private static final int TREES = 3;
    private static final long FAILURES = 5;
    private static final Digest DIGEST = new Digest("a".repeat(64));
    private static final Instant SETTLES = NOW.plusSeconds(5);

    /// A replica: what the disk has, what the last check found, and whether it is intact in truth.
    enum Replica {
        ABSENT(Files.MISSING, new ReplicaCheck.Never(), true),
        PARTIAL(Files.MISSING, new ReplicaCheck.Never(), true),
        UNCHECKED(Files.WHOLE, new ReplicaCheck.Never(), true),
        UNCHECKED_AND_BAD(Files.WHOLE, new ReplicaCheck.Never(), false),
        VERIFIED(Files.WHOLE, new ReplicaCheck.Intact(NOW, FAILURES), true),
        DUE(Files.WHOLE, new ReplicaCheck.Intact(NOW.minus(PERIOD), FAILURES), true),
        DUE_AND_BAD(Files.WHOLE, new ReplicaCheck.Intact(NOW.minus(PERIOD), FAILURES), false),
        /// Verified, but the disk has failed since.
        DOUBTED(Files.WHOLE, new ReplicaCheck.Intact(NOW, FAILURES - 1), true),
        CORRUPT(Files.WHOLE, new ReplicaCheck.Corrupt(FAILURES), false),
        /// A check met an error of the disk, which has failed since.
        SUSPECTED(Files.WHOLE, new ReplicaCheck.Corrupt(FAILURES - 1), true);

        final Files files;

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        final ReplicaCheck check;

        final boolean intact;

        Replica(Files files, ReplicaCheck check, boolean intact) {
            this.files = files;
            this.check = check;
            this.intact = intact;
        }

        boolean isWhole() {
            return files == Files.WHOLE;
        }

        /// Returns the name of the replica's state in docs/explanation/dataset-paths.md.
        String shown() {
            return switch (this) {
                case ABSENT -> "Missing";
                case PARTIAL -> "Partial";
                case UNCHECKED, UNCHECKED_AND_BAD, DUE, DUE_AND_BAD, DOUBTED, SUSPECTED -> "Unverified";
                case VERIFIED -> "Verified";
                case CORRUPT -> "Corrupt";
            };
        }
    }

    /// A disk, as the driver sees it and as a fill finds it.
    enum Condition {
        ROOM(Disk.USABLE),
        /// Has no room, which only a fill notices.
        NO_ROOM(Disk.USABLE),
        FULL(Disk.FULL),
        FAILING(Disk.FAILING);

        final Disk disk;

        Condition(Disk disk) {
            this.disk = disk;
        }
    }

    /// Where a tree is read from: nowhere if it is not attached.
    private static final int NOWHERE = 0;

    private static final int REMOTE = 1;
    private static final int LOCAL = 2;
    private static final int PLACES = LOCAL + CACHES.size();

    private static final Replica[] REPLICAS = Replica.values();
    private static final Condition[] CONDITIONS = Condition.values();
    private static final List<WantedReplicas> WANTS = wants();
    private static final Map<WantedReplicas, Integer> NUMBERS = numbers();
    private static final int CACHE_SITUATIONS = REPLICAS.length * CONDITIONS.length;
    private static final int TREE_SITUATIONS = PLACES * PLACES * PLACES;

    /// More than the highest number of a situation.
    static final int LIMIT = CACHE_SITUATIONS * CACHE_SITUATIONS * TREE_SITUATIONS * WANTS.size() * 2;

    private static final ObservedReplicas.Cache[][][] OBSERVED = observed();
    private static final ImageMount[][] MOUNTS = mounts();

    final Replica[] replicas = new Replica[CACHES.size()];
    final Condition[] disks = new Condition[CACHES.size()];
    private final int[] places = new int[TREES];
    WantedReplicas wanted;
    boolean imageKnown;

    private ReplicaModel(WantedReplicas wanted) {
        this.wanted = wanted;
    }

    static ReplicaModel of(int situation) {
        int rest = situation;
        ReplicaModel model = new ReplicaModel(WANTS.get(rest % WANTS.size()));
        rest /= WANTS.size();
        model.imageKnown = rest % 2 == 1;
        rest /= 2;
        for (int tree = 0; tree < TREES; tree++) {
            model.places[tree] = rest % PLACES;
            rest /= PLACES;
        }
        for (int cache = 0; cache < CACHES.size(); cache++) {
            model.replicas[cache] = REPLICAS[rest % REPLICAS.length];
            rest /= REPLICAS.length;
            model.disks[cache] = CONDITIONS[rest % CONDITIONS.length];
            rest /= CONDITIONS.length;
        }
        return model;
    }

    int situation() {
        int number = 0;
        for (int cache = CACHES.size() - 1; cache >= 0; cache--) {
            number = number * CONDITIONS.length + disks[cache].ordinal();
            number = number * REPLICAS.length + replicas[cache].ordinal();
        }
        for (int tree = TREES - 1; tree >= 0; tree--) {
            number = number * PLACES + places[tree];
        }
        number = number * 2 + (imageKnown ? 1 : 0);
        return number * WANTS.size() + NUMBERS.getOrDefault(wanted, -1);
    }

    private static List<WantedReplicas> wants() {
        List<WantedReplicas> wants = new ArrayList<>();
        for (boolean anywhere : new boolean[] {false, true}) {
            for (Set<Path> at :
                    List.of(Set.<Path>of(), Set.of(CACHES.getFirst()), Set.of(CACHES.getLast()), Set.copyOf(CACHES))) {
                WantedReplicas any = new WantedReplicas(anywhere, false, at, List.of(), Instant.MIN);
                wants.add(any);
                wants.add(any.unsettled(SETTLES));
                wants.add(any.nearest(List.of(CACHES.getFirst())));
                wants.add(any.nearest(List.of(CACHES.getLast())));
                wants.add(any.nearest(CACHES));
            }
        }
        return wants;
    }

    private static Map<WantedReplicas, Integer> numbers() {
        Map<WantedReplicas, Integer> numbers = new HashMap<>();
        WANTS.forEach(each -> numbers.put(each, numbers.size()));
        return numbers;
    }

    private static ObservedReplicas.Cache[][][] observed() {
        ObservedReplicas.Cache[][][] all =
                new ObservedReplicas.Cache[CACHES.size()][REPLICAS.length][CONDITIONS.length];
        for (int cache = 0; cache < CACHES.size(); cache++) {
            for (Replica replica : REPLICAS) {
                for (Condition condition : CONDITIONS) {
                    all[cache][replica.ordinal()][condition.ordinal()] = new ObservedReplicas.Cache(
                            CACHES.get(cache),
                            ImageMountKey.at(DIGEST, CACHES.get(cache)),
                            condition.disk,
                            RETRY,
                            FAILURES,
                            replica.files,
                            replica.check);
                }
            }
        }
        return all;
    }

    private static ImageMount[][] mounts() {
        ImageMount[][] all = new ImageMount[TREES][PLACES];
        for (int tree = 0; tree < TREES; tree++) {
            ImageMountKey key =
                    tree == COMMON ? ImageMountKey.anywhere(DIGEST) : ImageMountKey.at(DIGEST, CACHES.get(tree));
            for (int place = REMOTE; place < PLACES; place++) {
                ReadLocation from =
                        place == REMOTE ? new ReadLocation.Remote() : new ReadLocation.Local(CACHES.get(place - LOCAL));
                all[tree][place] = new ImageMount(key, Path.of("/tree", key.place()), from, true);
            }
        }
        return all;
    }

    /// Returns whether the situation can occur in the driver.
    boolean canOccur() {
        for (int cache = 0; cache < CACHES.size(); cache++) {
            boolean counts = replicas[cache] == Replica.VERIFIED
                    || replicas[cache] == Replica.DUE
                    || replicas[cache] == Replica.DUE_AND_BAD
                    || replicas[cache] == Replica.CORRUPT;
            if (counts && disks[cache] == Condition.FAILING) {
                return false; // when a disk begins to fail, all its checks are void
            }
            if (wanted.at().contains(CACHES.get(cache)) && !isAttached(cache)) {
                return false; // requested with that tree, and ends with it
            }
            // after a restart, a tree of unknown source is assumed to read from the disk that fails
            if (isRead(cache) && !replicas[cache].isWhole() && disks[cache] != Condition.FAILING) {
                return false;
            }
        }
        boolean settled = wanted.settlesAt().equals(Instant.MIN);
        // a pod's preference and the wait for it end with the last tree; the place of a fill without a tree stays
        boolean hasTreeForPod = isAttached() || (settled && wanted.preferred().size() < CACHES.size());
        // only after a restart, before any pod
        return hasTreeForPod && (imageKnown || (settled && wanted.preferred().isEmpty()));
    }

    boolean isAttached(int tree) {
        return places[tree] != NOWHERE;
    }

    boolean isAttached() {
        return isAttached(0) || isAttached(1) || isAttached(COMMON);
    }

    boolean isRemote(int tree) {
        return places[tree] == REMOTE;
    }

    boolean reads(int tree, int cache) {
        return places[tree] == LOCAL + cache;
    }

    boolean isRead(int cache) {
        return reads(0, cache) || reads(1, cache) || reads(COMMON, cache);
    }

    boolean isUsable(int cache) {
        return disks[cache].disk == Disk.USABLE;
    }

    boolean hasReadableWhole(int cache) {
        return replicas[cache].isWhole() && disks[cache] != Condition.FAILING;
    }

    /// Returns whether a fill in `cache` succeeds. A partial replica has its blocks already.
    boolean takes(int cache) {
        return !replicas[cache].isWhole()
                && (disks[cache] == Condition.ROOM
                        || (disks[cache] == Condition.NO_ROOM && replicas[cache] == Replica.PARTIAL));
    }

    ObservedReplicas observed(boolean inspected) {
        List<ObservedReplicas.Cache> caches = new ArrayList<>(CACHES.size());
        for (int cache = 0; cache < CACHES.size(); cache++) {
            ObservedReplicas.Cache seen = OBSERVED[cache][replicas[cache].ordinal()][disks[cache].ordinal()];
            caches.add(inspected ? seen : unseen(seen));
        }
        List<ImageMount> trees = new ArrayList<>(TREES);
        for (int tree = 0; tree < TREES; tree++) {
            if (isAttached(tree)) {
                trees.add(MOUNTS[tree][places[tree]]);
            }
        }
        return new ObservedReplicas(NOW, PERIOD, caches, trees, imageKnown);
    }

    private static ObservedReplicas.Cache unseen(ObservedReplicas.Cache seen) {
        return new ObservedReplicas.Cache(
                seen.path(),
                seen.dedicated(),
                seen.disk(),
                seen.retryAt(),
                seen.failures(),
                Files.UNSEEN,
                seen.check());
    }

    /// Takes a step, as [ReplicaReconciler] and its adapters do.
    ///
    /// @return whether it succeeded and may be followed by another
    boolean take(ReplicaStep step) {
        return switch (step) {
            case ReplicaStep.Abandon(Path at) -> {
                leave(CACHES.indexOf(at));
                wanted = imageKnown ? wanted.requested(false) : wanted;
                yield imageKnown;
            }
            case ReplicaStep.Discard(Path at) -> discard(CACHES.indexOf(at));
            case ReplicaStep.Verify(Path at) -> check(CACHES.indexOf(at));
            case ReplicaStep.Scrub(Path at) -> check(CACHES.indexOf(at));
            case ReplicaStep.Switch(ImageMountKey key, Path at) -> {
                places[tree(key)] = LOCAL + CACHES.indexOf(at);
                wanted = wanted.met(at);
                yield true;
            }
            case ReplicaStep.Meet(Path at) -> {
                wanted = wanted.met(at);
                yield true;
            }
            case ReplicaStep.FillCommon(List<Path> whole) -> fillCommon(whole);
            case ReplicaStep.FillAt(Path at) -> {
                if (takes(CACHES.indexOf(at))) {
                    replicas[CACHES.indexOf(at)] = Replica.VERIFIED;
                } else {
                    wanted = wanted.withoutAt(at);
                }
                yield true;
            }
            case ReplicaStep.Inspect _, ReplicaStep.WaitUntil _, ReplicaStep.Nothing _ -> false;
        };
    }

    static int tree(ImageMountKey key) {
        return IntStream.range(0, TREES)
                .filter(tree -> MOUNTS[tree][REMOTE].key().equals(key))
                .findFirst()
                .orElseThrow();
    }

    /// Switches to CephFS what reads from `cache`; without the path of the image that fails.
    private void leave(int cache) {
        for (int tree = 0; tree < TREES && imageKnown; tree++) {
            places[tree] = reads(tree, cache) ? REMOTE : places[tree];
        }
    }

    private boolean discard(int cache) {
        if (isRead(cache) && !imageKnown) {
            return false;
        }
        leave(cache);
        replicas[cache] = Replica.ABSENT;
        wanted = isAttached() ? wanted.requested(false) : wanted;
        wanted = isAttached(cache) ? wanted.requestedAt(CACHES.get(cache)) : wanted;
        return true;
    }

    private boolean check(int cache) {
        replicas[cache] = replicas[cache].intact ? Replica.VERIFIED : Replica.CORRUPT;
        return true;
    }

    /// As [CacheDirectories#place]: where a fill was begun, near with room, anywhere with room.
    private boolean fillCommon(List<Path> whole) {
        for (int rank = 0; rank < TREES; rank++) {
            for (int cache = 0; cache < CACHES.size(); cache++) {
                boolean near = wanted.preferred().contains(CACHES.get(cache));
                boolean begun = replicas[cache] == Replica.PARTIAL
                        && (near || wanted.preferred().isEmpty());
                if (takes(cache) && (rank == 2 || (rank == 1 && near) || (rank == 0 && begun))) {
                    wanted = wanted.preferring(CACHES.get(cache));
                    replicas[cache] = Replica.VERIFIED;
                    return true;
                }
            }
        }
        wanted = whole.isEmpty() ? wanted : wanted.preferring(whole.getFirst());
        return !whole.isEmpty();
    }

    @Override
    public String toString() {
        return List.of(disks) + " " + List.of(replicas) + ", trees "
                + observed(true).trees() + ", " + wanted + ", image known: " + imageKnown;
    }
}
