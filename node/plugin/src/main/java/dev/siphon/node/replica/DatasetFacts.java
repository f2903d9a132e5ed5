package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What this run of the driver knows of one dataset; disks and kernel hold the rest.
///
/// @param image its path on CephFS, if an attach or an earlier run has told it
/// @param trees the image mounts, as last seen
/// @param kernelAsked whether the kernel was queried for them
/// @param news how often an image mount was added, or the replica of the common tree moved
/// @param checks the results of the last complete reads of its replicas, by cache directory
/// @param failures its failed steps
/// @param fill what its fill does, or how the last one ended: never [FillStage.Due]
record DatasetFacts(
        Optional<DatasetImage> image,
        List<ImageMount> trees,
        boolean kernelAsked,
        long news,
        Map<Path, ReplicaCheck> checks,
        Failures failures,
        FillStage fill) {
    static final DatasetFacts NONE = new DatasetFacts(
            Optional.empty(),
            List.of(),
            false,
            0,
            Map.of(),
            new Failures(0, Optional.empty(), Optional.empty()),
            new FillStage.Idle());

    DatasetFacts {
        trees = List.copyOf(trees);
        checks = Map.copyOf(checks);
    }

    /// The failed steps of a dataset.
    ///
    /// @param count how many
    /// @param last the last one
    /// @param problem what is wrong now; a later fill or switch clears it
    record Failures(long count, Optional<DriverException> last, Optional<String> problem) {
        /// Returns why the last step failed, if there are more than `before` failures.
        Optional<DriverException> after(long before) {
            return count > before ? last : Optional.empty();
        }
    }

    Optional<ImageMount> tree(ImageMountKey key) {
        return trees.stream().filter(tree -> tree.key().equals(key)).findFirst();
    }

    /// Returns the image mount that reads the replica in `cache`, or else one that reads from CephFS.
    Optional<ImageMount> tree(Optional<Path> cache) {
        Predicate<ImageMount> remote = tree -> tree.place().cache().isEmpty();
        return trees.stream()
                .filter(tree -> tree.place().cache().equals(cache))
                .findFirst()
                .or(() -> trees.stream().filter(remote).findFirst());
    }

    boolean isAttached() {
        return !trees.isEmpty();
    }

    /// Returns the cache directories whose replicas are behind the dataset's trees.
    Set<Path> servedFrom() {
        return trees.stream().flatMap(tree -> tree.place().cache().stream()).collect(Collectors.toSet());
    }

    /// Returns the image mounts that read the replica in `cache`.
    List<ImageMountKey> servedFrom(Path cache) {
        return trees.stream()
                .filter(tree -> ObservedReplicas.reads(tree, cache))
                .map(ImageMount::key)
                .toList();
    }

    ReplicaCheck check(Path cache) {
        return checks.getOrDefault(cache, new ReplicaCheck.Never());
    }

    DatasetFacts withImage(DatasetImage known) {
        return new DatasetFacts(Optional.of(known), trees, kernelAsked, news, checks, failures, fill);
    }

    /// Adds an image mount, or says where it is read from now.
    DatasetFacts withTree(ImageMount tree) {
        long more = tree(tree.key()).isPresent() ? news : news + 1;
        List<ImageMount> all =
                Stream.concat(without(tree.key()), Stream.of(tree)).toList();
        return new DatasetFacts(image, all, kernelAsked, more, checks, failures, fill);
    }

    DatasetFacts withoutTree(ImageMountKey key) {
        return new DatasetFacts(image, without(key).toList(), kernelAsked, news, checks, failures, fill);
    }

    private Stream<ImageMount> without(ImageMountKey key) {
        return trees.stream().filter(tree -> !tree.key().equals(key));
    }

    DatasetFacts withKernelAsked() {
        return new DatasetFacts(image, trees, true, news, checks, failures, fill);
    }

    DatasetFacts withNews() {
        return new DatasetFacts(image, trees, kernelAsked, news + 1, checks, failures, fill);
    }

    /// Records the result of a complete read of the replica in `cache`.
    DatasetFacts withCheck(Path cache, ReplicaCheck result) {
        Map<Path, ReplicaCheck> all = new HashMap<>(checks);
        all.put(cache, result);
        return new DatasetFacts(image, trees, kernelAsked, news, all, failures, fill);
    }

    /// Forgets the last check, because the replica is gone.
    DatasetFacts withoutCheck(Path cache) {
        Map<Path, ReplicaCheck> rest = new HashMap<>(checks);
        rest.remove(cache);
        return new DatasetFacts(image, trees, kernelAsked, news, rest, failures, fill);
    }

    DatasetFacts withProblem(Optional<String> problem) {
        return new DatasetFacts(
                image,
                trees,
                kernelAsked,
                news,
                checks,
                new Failures(failures.count(), failures.last(), problem),
                fill);
    }

    /// Records a failed step.
    DatasetFacts withFailure(DriverException why, String problem) {
        return new DatasetFacts(
                image,
                trees,
                kernelAsked,
                news,
                checks,
                new Failures(failures.count() + 1, Optional.of(why), Optional.of(problem)),
                fill);
    }

    DatasetFacts withFill(FillStage now) {
        return new DatasetFacts(image, trees, kernelAsked, news, checks, failures, now);
    }
}
