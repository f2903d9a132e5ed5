package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImageModes;
import dev.siphon.node.image.ImagePacker;
import dev.siphon.node.image.PackListener;
import dev.siphon.node.image.PackRequest;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/// A dataset on the lab's Ceph, with the expected content of its files.
///
/// @param home the volume that contains its image
/// @param files the digest of each file, by path
record SealedDataset(Lab.Volume home, Lab.Volume volume, Map<String, Digest> files) {
    private static final long MIB = 1 << 20;
    private static final PackListener NOBODY = new PackListener() {
        @Override
        public void walked(long entries) {}

        @Override
        public void leftOut(long count, List<String> first) {}

        @Override
        public void packed(long done, long all) {}
    };

    /// Packs `count` files into a volume, as an administrator does.
    static SealedDataset create(int count) throws IOException {
        Lab.Volume home = Lab.createOnlyVolume(Lab.createGroup(256 * MIB), 128 * MIB);
        Map<String, Digest> files = new HashMap<>();
        try (Workplace workplace = Workplace.create();
                NodeProcess node = NodeProcess.start(workplace.directory("node"))) {
            Path source = workplace.directory("source");
            Random random = new Random(count);
            for (int file = 0; file < count; file++) {
                byte[] content = new byte[random.nextInt(400_000)];
                random.nextBytes(content);
                Path folder = Files.createDirectories(source.resolve("class-" + file % 4));
                Files.write(folder.resolve("image-" + file), content);
                files.put("class-" + file % 4 + "/image-" + file, Digest.of(ByteBuffer.wrap(content)));
            }
            Path staging = workplace.directory("staging");
            var _ = node.stub().nodeStageVolume(Requests.stage(home, staging));
            Manifest manifest = new ImagePacker(NOBODY)
                    .pack(new PackRequest(source, staging.resolve("image"), ImageModes.READABLE, 4));
            var _ = node.stub().nodeUnstageVolume(Requests.unstage(home, staging));
            return new SealedDataset(home, volume(home, manifest.root().beginning()), files);
        }
    }

    /// Returns the volume of any dataset at the same path.
    ///
    /// @param digest the beginning of the dataset's digest
    Lab.Volume volumeOf(String digest) {
        return volume(home, digest);
    }

    /// Returns the volume of a claim.
    Lab.Volume volumeFor(String claim) {
        return new Lab.Volume(id().forUse(claim), volume.path(), volume.context(), volume.secrets());
    }

    private static Lab.Volume volume(Lab.Volume home, String digest) {
        return new Lab.Volume(
                new VolumeId.DatasetVolume("lab", Lab.fileSystem(), digest, Optional.empty(), home.path()),
                home.path(),
                Map.of("monitors", Lab.monitors(), "mounter", Lab.mounter()),
                home.secrets());
    }

    VolumeId.DatasetVolume id() {
        return (VolumeId.DatasetVolume) volume.id();
    }

    void assertWhole(Path tree) throws IOException {
        for (Map.Entry<String, Digest> file : files.entrySet()) {
            byte[] content = Files.readAllBytes(tree.resolve(file.getKey()));
            assertEquals(file.getValue(), Digest.of(ByteBuffer.wrap(content)), file.getKey());
        }
    }

    /// Returns the loop devices over its image or over a replica.
    List<LoopStatus> devices() {
        return LoopDevice.all(Set.of()).stream()
                .filter(device -> device.tag().contains(id().digest()))
                .toList();
    }

    /// Returns whether it is read from a replica in `cache`.
    boolean isReadFrom(Path cache) {
        try (var folders = Files.list(cache)) {
            List<Long> replicas = folders.flatMap(folder -> inode(folder.resolve("image")).stream())
                    .toList();
            return devices().stream()
                    .anyMatch(device -> replicas.contains(device.backing().inode()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<Long> inode(Path file) {
        try {
            return Optional.of((Long) Files.getAttribute(file, "unix:ino"));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the grants that let these namespaces read it, as the controller publishes them.
    String readBy(String... namespaces) {
        Grants.Shared shared = new Grants.Shared(id(), false, new TreeSet<>(List.of(namespaces)));
        return new Grants(Map.of(), Map.of("mine", shared)).toJson();
    }
}
