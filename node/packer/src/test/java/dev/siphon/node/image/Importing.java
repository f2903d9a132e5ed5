package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.linux.Programs;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/// Imports tars into images, in memory.
final class Importing implements AutoCloseable {
    private final Packing packing = new Packing();

    static final class Listening implements ImportListener {
        private final List<String> leftOut = new ArrayList<>();
        private Runnable begin = () -> {};

        @Override
        public void walked(long entries) {}

        @Override
        public void leftOut(long count, List<String> first) {
            leftOut.addAll(first);
        }

        @Override
        public void packed(long done, long all) {
            if (done == 0) {
                begin.run();
            }
        }

        @Override
        public void downloaded(long done, long all) {}

        @Override
        public void read(long done, long all) {}
    }

    private final Listening listening = new Listening();

    Packing packing() {
        return packing;
    }

    Listening listening() {
        return listening;
    }

    /// Returns the names reported as left out.
    List<String> leftOut() {
        return listening.leftOut;
    }

    /// Runs `what` after all headers are read and before the first file is.
    void whenPacking(Runnable what) {
        listening.begin = what;
    }

    @Override
    public void close() {
        packing.close();
    }

    Path tar(String name, String... how) {
        Path tar = packing.path(name);
        List<String> command = new ArrayList<>(List.of("tar", "-cf", tar.toString()));
        command.addAll(List.of(how));
        command.addAll(List.of("-C", packing.source().toString(), "."));
        Programs.run(command.toArray(String[]::new));
        return tar;
    }

    Manifest run(Path source, String image) {
        return run(source, image, ImageModes.READABLE, 0);
    }

    Manifest run(Path source, String image, ImageModes modes, int strip) {
        return run(new ImportOrigin.Local(source), Optional.empty(), image, modes, strip);
    }

    Manifest run(ImportOrigin origin, Optional<Digest> sha256, String image, ImageModes modes, int strip) {
        FetchLimits limits = FetchLimits.USUAL;
        Manifest manifest = new ImageImport(listening, limits)
                .run(new ImportRequest(origin, sha256, strip, packing.path(image), modes, 3));
        Packing.check(packing.path(image), manifest);
        assertEquals(List.of(), beside(image));
        return manifest;
    }

    private List<String> beside(String image) {
        List<String> found = new ArrayList<>();
        for (String each : List.of(".download", ".download.from", ".part.tar", ".part.tar.part", ".part.tar.from")) {
            if (Files.exists(packing.path(image + each))) {
                found.add(each);
            }
        }
        return found;
    }

    Path write(String name, byte[] tar) {
        try {
            return Files.write(packing.path(name), tar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void assertEqualImages(String one, String other) throws IOException {
        assertEquals(-1, Files.mismatch(packing.path(one), packing.path(other)));
    }

    static void compress(String how, byte[] bytes, OutputStream to) throws IOException {
        OutputStream kept = new FilterOutputStream(to) {
            @Override
            public void write(byte[] from, int offset, int length) throws IOException {
                out.write(from, offset, length);
            }

            @Override
            public void close() throws IOException {
                out.flush();
            }
        };
        try (OutputStream out = switch (how) {
            case "bz2" -> new BZip2CompressorOutputStream(kept);
            case "gz" -> new GZIPOutputStream(kept);
            case "xz" -> new XZOutputStream(kept, new LZMA2Options(1));
            // as the command `zstd`, whose frames have checksums
            default -> new ZstdOutputStreamNoFinalizer(kept).setChecksum(true);
        }) {
            out.write(bytes);
        }
    }
}
