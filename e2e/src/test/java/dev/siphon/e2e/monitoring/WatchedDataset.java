package dev.siphon.e2e.monitoring;

import com.google.gson.JsonParser;
import csi.v1.CreateVolumeRequest;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.Stream;

/// A dataset `u1/pictures` on the lab's CephFS, with two files of [#FILE_BYTES], and its declaration. Closing removes
/// it.
final class WatchedDataset implements AutoCloseable {
    static final int FILE_BYTES = 4 << 20;

    private static final String PLACE = "/datasets/pictures";
    private static final String READER = "u1";

    private final Path declarations;

    /// Packs the image and declares it.
    ///
    /// @param folder for the administrator's files
    WatchedDataset(Path folder) {
        try {
            Path source = Files.createDirectories(folder.resolve("source"));
            byte[] noise = new byte[FILE_BYTES];
            Random random = new Random(11);
            for (String name : new String[] {"first", "second"}) {
                random.nextBytes(noise);
                Files.write(source.resolve(name), noise);
            }
            this.declarations = Files.writeString(folder.resolve("datasets.json"), """
                    {"u1/pictures": {"fsName": "%s", "path": "%s", "digest": "%s", "readers": ["%s"]}}
                    """.formatted(
                            Lab.here().fileSystem(), PLACE, pack(source), READER));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// @return the digest
    private static String pack(Path source) throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            Path place = Files.createDirectories(tree.at(PLACE));
            String script = "import os, sys; os.setxattr(sys.argv[1], 'ceph.dir.layout.pool_namespace', b'pictures')";
            Command.run("python3", "-c", script, place.toString());
            String said = Command.run(
                    Project.launcher().toString(),
                    "dataset",
                    "pack",
                    "--source=" + source,
                    "--image=" + place.resolve("image"));
            return JsonParser.parseString(said.lines().reduce("", (_, last) -> last))
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
        }
    }

    /// Returns the flags of a controller that knows it. Namespace `user-u1` belongs to the reader.
    String[] controllerFlags() {
        return new String[] {"--datasets-file=" + declarations, "--namespace-owner=namespace-prefix:user-"};
    }

    /// Returns a provisioner's request for a claim of the reader.
    static CreateVolumeRequest claim(String name) {
        return Requests.readOnly(Requests.volume(name, READER, Requests.GIB)).toBuilder()
                .putParameters("dataset", "u1/pictures")
                .putParameters("csi.storage.k8s.io/pvc/namespace", "user-" + READER)
                .build();
    }

    @Override
    public void close() {
        try (CephTree tree = CephTree.mount(Lab.here());
                Stream<Path> all = Files.walk(tree.at("/datasets"))) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
