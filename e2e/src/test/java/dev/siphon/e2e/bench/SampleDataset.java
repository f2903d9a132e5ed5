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

/// Files on a disk, the same files on CephFS, and their image.
///
/// @param loose the folder of the files on the disk
/// @param order a file of all names, NUL-terminated, in reading order
/// @param names these names; no directory listing begins with the first
/// @param bytes the size of all files
/// @param folder the path of the files on CephFS
/// @param volume the image
public record SampleDataset(Path loose, Path order, List<String> names, long bytes, String folder, Volume volume) {
    private static final int CLASSES = 100;
    private static final int DIGEST_BEGINNING = 40;

    /// What files a dataset has.
    ///
    /// @param name of the dataset's directories
    /// @param files how many
    /// @param least the bytes of the smallest possible
    /// @param most the bytes of the largest possible
    public record Shape(String name, int files, int least, int most) {
        /// Many small files, as pictures are.
        static final Shape SMALL = new Shape("small", 10_000, 60_000, 160_000);

        /// Eight large files, as WebDataset's shards are. The lab has no memory for 64 of 256 MB.
        static final Shape LARGE = new Shape("large", 8, 128_000_000, 128_000_001);

        /// Returns a dataset with another number of such small files.
        public static Shape small(int files) {
            return new Shape(SMALL.name, files, SMALL.least, SMALL.most);
        }
    }

    public SampleDataset {
        names = List.copyOf(names);
    }

    /// Returns the path of the image on CephFS.
    String image() {
        return directory(folder) + "/image";
    }

    private static String directory(String folder) {
        return "/volumes" + folder;
    }

    /// Creates the files and their image, in a file system that has neither yet.
    public static SampleDataset make(Lab lab, Path disk, Shape shape) throws IOException {
        Path loose = Files.createDirectory(disk.resolve("loose-" + shape.name()));
        Random random = new Random(1);
        List<String> names = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < shape.files(); i++) {
            Path directory = Files.createDirectories(loose.resolve("class-" + i % CLASSES));
            byte[] content = new byte[shape.least() + random.nextInt(shape.most() - shape.least())];
            random.nextBytes(content);
            Path file = Files.write(directory.resolve("image-" + i), content);
            names.add(loose.relativize(file).toString());
            bytes += content.length;
        }
        Collections.shuffle(names, random);
        Path order = Files.writeString(disk.resolve("order-" + shape.name()), String.join("\0", names) + "\0");
        String folder = "/bench-" + shape.name();
        return new SampleDataset(loose, order, names, bytes, folder, seal(lab, loose, folder));
    }

    private static Volume seal(Lab lab, Path loose, String folder) throws IOException {
        String directory = directory(folder);
        try (CephTree tree = CephTree.mount(lab)) {
            Shell.run("cp -a \"$1\" \"$2\"", loose, tree.at(folder));
            Path image = Files.createDirectories(tree.at(directory)).resolve("image");
            String said = Shell.run(
                    "exec \"$1\" dataset pack --source \"$2\" --image \"$3\"", Project.launcher(), loose, image);
            String digest = JsonParser.parseString(said.strip().lines().toList().getLast())
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
            return Volume.newBuilder()
                    .setVolumeId("dataset:lab:" + lab.fileSystem() + ":" + digest.substring(0, DIGEST_BEGINNING) + ":"
                            + directory)
                    .putVolumeContext("monitors", lab.monitors())
                    .putVolumeContext("mounter", CephClient.here().mounter())
                    .build();
        }
    }
}
