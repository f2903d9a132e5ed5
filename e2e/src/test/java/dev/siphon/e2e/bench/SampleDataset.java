package dev.siphon.e2e.bench;

import com.google.gson.JsonParser;
import csi.v1.Volume;
import dev.siphon.e2e.lab.CephClient;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/// Many small files on a disk, the same files on CephFS, and their image.
///
/// @param loose the folder of the files on the disk
/// @param order a file of all names, NUL-terminated, in reading order
/// @param first the first of these names; no directory listing begins with it
/// @param bytes the size of all files
/// @param volume the image
public record SampleDataset(Path loose, Path order, String first, long bytes, Volume volume) {
    static final int FILES = 10_000;

    /// The folder of the files on CephFS.
    static final String LOOSE = "/bench-loose";

    /// The path of the image on CephFS.
    static final String IMAGE = "/volumes/bench-dataset/image";

    private static final int CLASSES = 100;
    private static final int LEAST_BYTES = 60_000;
    private static final int MOST_BYTES = 160_000;
    private static final int DIGEST_BEGINNING = 40;

    /// Creates [#FILES] files and their image, in a file system that has neither yet.
    static SampleDataset make(Lab lab, Path disk) throws IOException {
        return make(lab, disk, FILES);
    }

    /// Does the same with another number of files.
    public static SampleDataset make(Lab lab, Path disk, int files) throws IOException {
        Path loose = Files.createDirectory(disk.resolve("loose"));
        Random random = new Random(1);
        List<String> names = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < files; i++) {
            Path directory = Files.createDirectories(loose.resolve("class-" + i % CLASSES));
            byte[] content = new byte[LEAST_BYTES + random.nextInt(MOST_BYTES - LEAST_BYTES)];
            random.nextBytes(content);
            Path file = Files.write(directory.resolve("image-" + i), content);
            names.add(loose.relativize(file).toString());
            bytes += content.length;
        }
        Collections.shuffle(names, random);
        Path order = Files.writeString(disk.resolve("order"), String.join("\0", names) + "\0");
        return new SampleDataset(loose, order, names.getFirst(), bytes, seal(lab, loose));
    }

    private static Volume seal(Lab lab, Path loose) throws IOException {
        try (CephTree tree = CephTree.mount(lab)) {
            Shell.run("cp -a \"$1\" \"$2\"", loose, tree.at(LOOSE));
            Path image = tree.at(IMAGE);
            Files.createDirectories(tree.at(IMAGE.substring(0, IMAGE.lastIndexOf('/'))));
            String said = Shell.run(
                    "exec \"$1\" dataset pack --source \"$2\" --image \"$3\"", Project.launcher(), loose, image);
            String digest = JsonParser.parseString(said.strip().lines().toList().getLast())
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
            String directory = IMAGE.substring(0, IMAGE.lastIndexOf('/'));
            return Volume.newBuilder()
                    .setVolumeId("dataset:lab:" + lab.fileSystem() + ":" + digest.substring(0, DIGEST_BEGINNING) + ":"
                            + directory)
                    .putVolumeContext("monitors", lab.monitors())
                    .putVolumeContext("mounter", CephClient.here().mounter())
                    .build();
        }
    }
}
