package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The directory of each image mount: `DIGEST/PLACE` in the driver's state directory. It holds `mount`, the tree,
/// and the symbolic links `image` and `manifest`, which lead a restarted driver back to CephFS. The links are only
/// read, never followed, so they work even while CephFS hangs.
final class ImageMountDirectories {
    private final Path directory;

    /// @param directory absolute, without symbolic links
    ImageMountDirectories(Path directory) {
        this.directory = directory;
    }

    private Path folder(ImageMountKey key) {
        return directory.resolve(key.digest().hex()).resolve(key.place());
    }

    /// Returns the mount point of the tree, mounted or not.
    Path tree(ImageMountKey key) {
        return folder(key).resolve("mount");
    }

    /// Returns whether a mount point is the tree of a dataset other than `dataset`.
    boolean isOfAnother(String mountPoint, Digest dataset) {
        return mountPoint.startsWith(directory + "/") && !mountPoint.startsWith(directory.resolve(dataset.hex()) + "/");
    }

    /// Creates the directory for `image`, replacing earlier links.
    void make(ImageMountKey key, DatasetImage image) {
        try {
            Files.createDirectories(tree(key));
            link(folder(key).resolve("image"), image.image());
            link(folder(key).resolve("manifest"), image.manifest());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create the directory of dataset " + key.digest(), e);
        }
    }

    private static void link(Path link, Path target) throws IOException {
        Path fresh = link.resolveSibling(link.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createSymbolicLink(fresh, target);
        Files.move(fresh, link, StandardCopyOption.ATOMIC_MOVE);
    }

    /// Returns the image that the directory's links name.
    Optional<DatasetImage> image(ImageMountKey key) {
        try {
            return Optional.of(new DatasetImage(
                    key.digest(),
                    Files.readSymbolicLink(folder(key).resolve("image")),
                    Files.readSymbolicLink(folder(key).resolve("manifest"))));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the directory of dataset " + key.digest(), e);
        }
    }

    /// Removes the directory, whose tree must not be mounted; succeeds if it is already gone.
    void remove(ImageMountKey key) {
        try {
            for (String name : List.of("image", "image.new", "manifest", "manifest.new", "mount")) {
                Files.deleteIfExists(folder(key).resolve(name));
            }
            Files.deleteIfExists(folder(key));
            Path dataset = directory.resolve(key.digest().hex());
            if (isEmpty(dataset)) {
                Files.deleteIfExists(dataset);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the directory of dataset " + key.digest(), e);
        }
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(directory)) {
            return !left.iterator().hasNext();
        } catch (NoSuchFileException _) {
            return true;
        }
    }

    /// Returns the keys of a dataset's image mounts that have a directory.
    List<ImageMountKey> of(Digest dataset) {
        List<ImageMountKey> keys = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(directory.resolve(dataset.hex()))) {
            for (Path folder : folders) {
                ImageMountKey.parse(dataset.hex(), String.valueOf(folder.getFileName()))
                        .ifPresent(keys::add);
            }
            return keys;
        } catch (NoSuchFileException _) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the directory of dataset " + dataset, e);
        }
    }

    /// Returns the datasets that have a directory.
    List<Digest> known() {
        List<Digest> digests = new ArrayList<>();
        try {
            Files.createDirectories(directory);
            try (DirectoryStream<Path> folders = Files.newDirectoryStream(directory)) {
                for (Path folder : folders) {
                    digest(folder).ifPresent(digests::add);
                }
            }
            return digests;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + directory, e);
        }
    }

    private static Optional<Digest> digest(Path folder) {
        try {
            return Optional.of(new Digest(String.valueOf(folder.getFileName())));
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty();
        }
    }
}
