package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// A source and its images, in memory: the disk is not under test.
final class Packing implements AutoCloseable {
    private final Workplace workplace = Workplace.create();
    private final Path memory = workplace.directory("memory");
    private final Path source = memory.resolve("source");
    private int mounts;

    Packing() {
        Programs.run("mount", "-t", "tmpfs", "tmpfs", memory.toString());
        new TreeScript().with("dir", TreeScript.hex("source")).build(memory);
    }

    Path source() {
        return source;
    }

    Path path(String name) {
        return memory.resolve(name);
    }

    /// Returns a listener that only runs `begin`, after the layout is known and before a file is read.
    static PackListener listener(Runnable begin) {
        return new PackListener() {
            @Override
            public void walked(long entries) {}

            @Override
            public void leftOut(long count, List<String> first) {}

            @Override
            public void packed(long done, long all) {
                if (done == 0) {
                    begin.run();
                }
            }
        };
    }

    /// Packs the source to `name`, and checks that the manifest matches the file in every byte.
    Manifest pack(String name, ImageModes modes, int parallel) {
        return pack(name, modes, parallel, listener(() -> {}));
    }

    Manifest pack(String name, ImageModes modes, int parallel, PackListener listener) {
        Manifest manifest = new ImagePacker(listener).pack(new PackRequest(source, path(name), modes, parallel));
        check(path(name), manifest);
        return manifest;
    }

    /// Checks that the image at `path` matches `manifest`, that the manifest file beside it is the same, and that
    /// no other file exists.
    static void check(Path path, Manifest manifest) {
        try {
            ImageFiles files = new ImageFiles(path);
            assertEquals(manifest, Manifest.parse(Files.readString(files.manifest())));
            List<Digest> chunks = new ArrayList<>();
            try (var in = Files.newInputStream(path)) {
                for (byte[] chunk = in.readNBytes(Manifest.CHUNK_BYTES);
                        chunk.length > 0;
                        chunk = in.readNBytes(Manifest.CHUNK_BYTES)) {
                    chunks.add(Digest.of(ByteBuffer.wrap(chunk)));
                }
            }
            assertEquals(manifest.chunks(), chunks);
            assertEquals(
                    List.of(false, false, false),
                    List.of(
                            Files.exists(files.part()),
                            Files.exists(files.done()),
                            Files.exists(files.manifestPart())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Mounts the image `name` and passes the mount point to `look`.
    void mounted(String name, Consumer<Path> look) {
        Path at = workplace.directory("mounted-" + mounts++);
        Programs.run("mount", "-t", "erofs", "-o", "loop,ro", path(name).toString(), at.toString());
        look.accept(at);
        Programs.run("umount", at.toString());
    }

    /// Checks that the kernel shows the same through the image `name` as through the source.
    void assertSame(String name, ImageModes modes) {
        String[] how = modes == ImageModes.READABLE ? new String[] {"readable"} : new String[0];
        List<String> expected = TreeScript.show(source, how);
        mounted(name, at -> assertEquals(expected, TreeScript.show(at, "image")));
    }

    @Override
    public void close() {
        workplace.close();
    }
}
