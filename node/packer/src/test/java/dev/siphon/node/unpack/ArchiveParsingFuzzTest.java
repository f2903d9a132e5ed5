package dev.siphon.node.unpack;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.tar.Tars;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Fuzzes archives that accounts import.
final class ArchiveParsingFuzzTest {
    /// Reads contents up to some size, and keeps nothing.
    private static final class Reading implements TreeSink {
        private static final long MOST_BYTES = 4 << 20;

        @Override
        public void directory(MemberPath path, Attributes attributes) {}

        @Override
        public void file(MemberPath path, Attributes attributes, long bytes, Content content) throws IOException {
            content.writeTo((offset, octets, length) -> {
                if (offset < 0 || offset + length > MOST_BYTES || length > octets.length) {
                    throw new FetchFailure(FetchFailure.Reason.TOO_LARGE, "more than this test reads");
                }
            });
        }

        @Override
        public void symlink(MemberPath path, String target) {
            boolean _ = path.checkTarget(target);
        }

        @Override
        public void hardLink(MemberPath path, MemberPath existing) {}
    }

    @Test
    void tarsAsStreams() {
        ParserFuzz.of(
                        "tars as streams",
                        Tars.valid().subList(1, Tars.valid().size()),
                        bytes -> {
                            try {
                                TarArchive.read(new ByteArrayInputStream(Tars.withChecksums(bytes)), new Reading());
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        },
                        FetchFailure.class,
                        DriverException.InvalidRequest.class,
                        UncheckedIOException.class)
                .run();
    }

    @Test
    void zips() throws IOException {
        Path file = Files.createTempFile("siphon", ".zip");
        try {
            ParserFuzz.of(
                            "zips",
                            List.of(ZipFetchTest.zip("d/", "", "d/f", "content", "!stored", "as it is")),
                            bytes -> {
                                try {
                                    Files.write(file, bytes);
                                    new ZipArchive(file).read(new Reading());
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            },
                            FetchFailure.class,
                            UncheckedIOException.class)
                    .run();
        } finally {
            Files.delete(file);
        }
    }
}
