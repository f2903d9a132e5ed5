package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.Lab;
import dev.siphon.node.NodeProcess;
import dev.siphon.node.Requests;
import dev.siphon.node.image.ImageModes;
import dev.siphon.node.image.ImagePacker;
import dev.siphon.node.image.PackListener;
import dev.siphon.node.image.PackRequest;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/// A packed image with the expected content of its files. One of the files is a program.
public final class TestDataset {
    private static final long VOLUME_BYTES = 128 << 20;

    private final DatasetImage image;
    private final Manifest manifest;
    private final Map<String, Digest> files;

    private TestDataset(DatasetImage image, Manifest manifest, Map<String, Digest> files) {
        this.image = image;
        this.manifest = manifest;
        this.files = files;
    }

    /// @param name the directory in `workplace` for the image, and the seed of its contents
    public static TestDataset create(Workplace workplace, String name, int count, int bytesPerFile) {
        Path directory = workplace.directory(name);
        Path source = workplace.directory(name + "/source");
        Random random = new Random(name.hashCode());
        Map<String, Digest> files = new TreeMap<>();
        try {
            for (int i = 0; i < count; i++) {
                byte[] content = new byte[bytesPerFile - random.nextInt(Math.max(1, bytesPerFile / 10))];
                random.nextBytes(content);
                Files.write(source.resolve("file-" + i), content);
                files.put("file-" + i, Digest.of(ByteBuffer.wrap(content)));
            }
            Files.copy(Path.of("/bin/echo").toRealPath(), source.resolve("program"));
            Programs.run("chmod", "755", source + "/program");
            files.put("program", Digest.of(ByteBuffer.wrap(Files.readAllBytes(source.resolve("program")))));
            Path image = directory.resolve("image");
            Manifest manifest =
                    new ImagePacker(new Unheard()).pack(new PackRequest(source, image, ImageModes.READABLE, 2));
            try (Stream<Path> all = Files.walk(source)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
            Path beside = directory.resolve("image.manifest");
            return new TestDataset(new DatasetImage(manifest.root(), image, beside), manifest, files);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Creates a dataset as [#create] does. In a guest of the lab its image is on CephFS, over the kernel client.
    static TestDataset createRemote(Workplace workplace, String name, int count, int bytesPerFile) {
        if (Lab.mounter().equals("kernel")) {
            Lab.Volume volume = Lab.createVolume(Lab.createGroup(VOLUME_BYTES), VOLUME_BYTES);
            // the mount outlives the node, and is removed with the workplace
            try (NodeProcess node = NodeProcess.start(workplace.directory(name + "-node"))) {
                var _ = node.stub().nodeStageVolume(Requests.stage(volume, workplace.directory(name)));
            }
        }
        return create(workplace, name, count, bytesPerFile);
    }

    private static final class Unheard implements PackListener {
        @Override
        public void walked(long entries) {}

        @Override
        public void leftOut(long count, List<String> first) {}

        @Override
        public void packed(long done, long all) {}
    }

    public DatasetImage image() {
        return image;
    }

    public Digest digest() {
        return image.digest();
    }

    public Manifest manifest() {
        return manifest;
    }

    /// Returns the dataset under another path, such as another mount.
    public DatasetImage below(Path directory) {
        return new DatasetImage(digest(), directory.resolve("image"), directory.resolve("image.manifest"));
    }

    /// Returns the names of its files.
    public List<String> names() {
        return List.copyOf(files.keySet());
    }

    /// Returns the digest of the file `name`.
    Digest digest(String name) {
        return Objects.requireNonNull(files.get(name), name);
    }

    /// Returns whether `content` is that of the file `name`.
    public boolean isRight(String name, ByteBuffer content) {
        return Digest.of(content).equals(files.get(name));
    }

    /// Returns whether every file of the tree is correct, read from the device instead of the page cache.
    public boolean isRight(Path tree) {
        dropCaches();
        return names().stream().allMatch(name -> {
            try {
                return isRight(name, ByteBuffer.wrap(Files.readAllBytes(tree.resolve(name))));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    public static void dropCaches() {
        try {
            Files.writeString(Path.of("/proc/sys/vm/drop_caches"), "3");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Changes one byte of a file on disk.
    public static void flip(Path file, long offset) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, offset);
            one.put(0, (byte) (one.get(0) ^ 0x40)).rewind();
            channel.write(one, offset);
            channel.force(true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
