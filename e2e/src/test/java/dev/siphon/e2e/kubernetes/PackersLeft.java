package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.CephTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// What sealing a snapshot might leave behind.
final class PackersLeft {
    private PackersLeft() {}

    /// Lists leftovers of packers: objects, and identities in Ceph.
    static List<String> packers(Cluster cluster) {
        return Stream.of(
                        cluster.kubectl("-n", Installation.NAMESPACE, "get", "jobs,pvc,secrets", "-o", "name")
                                .lines(),
                        cluster.kubectl("get", "pv", "-o", "name").lines(),
                        cluster.cephIdentities())
                .flatMap(each -> each)
                .filter(each -> each.contains("siphon-pack"))
                .toList();
    }

    /// Lists the images of sealed snapshots.
    static List<String> images(Cluster cluster) {
        try (CephTree tree = CephTree.mount(cluster.lab())) {
            return images(tree);
        }
    }

    /// Does the same where the file system is mounted.
    static List<String> images(CephTree tree) {
        try (Stream<Path> all = Files.list(tree.at("/datasets"))) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> name.matches("i[0-9a-v]{15}"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
