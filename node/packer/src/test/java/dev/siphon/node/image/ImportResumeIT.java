package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.FileServer;
import dev.siphon.node.fetch.FileServer.Answer;
import dev.siphon.node.linux.TestJvm;
import dev.siphon.node.packer.ImportCommand;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/// Imports that are killed.
final class ImportResumeIT {
    private static final long LIMIT_SECONDS = 60;

    private final Importing importing = new Importing();

    /// Runs the command as a separate process, so that a test can kill it.
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            System.exit(new CommandLine(new ImportCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute(args));
        }
    }

    @AfterEach
    void close() {
        importing.close();
    }

    private Process start(String source, Digest digest) throws IOException {
        return TestJvm.of(
                        Main.class,
                        "--source=" + source,
                        "--sha256=" + digest,
                        "--image=" + importing.packing().path("image"),
                        "--parallel=2",
                        "--progress")
                .redirectErrorStream(true)
                .start();
    }

    /// Kills an import when it prints `sign`, and returns whether it printed it.
    private boolean killAt(Process process, String sign) throws IOException, InterruptedException {
        boolean seen = false;
        try (BufferedReader said = process.inputReader(StandardCharsets.US_ASCII)) {
            for (String line = said.readLine(); line != null && !seen; line = said.readLine()) {
                seen = line.startsWith(sign);
                if (seen) {
                    break;
                }
            }
            process.destroyForcibly();
            assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
        }
        return seen;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tar", "gz"})
    void killedAtAnyTimeItGoesOnAndMakesTheSame(String kind) throws IOException, InterruptedException {
        TreeScript tree = new TreeScript();
        for (int i = 0; i < 12; i++) {
            tree.with("file", hex("f" + i), "5000000", "f" + i);
        }
        tree.build(importing.packing().source());
        Path tar = importing.tar("t.tar", "--format=pax");
        Manifest expected = importing.run(tar, "expected");
        byte[] sent = Files.readAllBytes(tar);
        if (kind.equals("gz")) {
            var out = new ByteArrayOutputStream();
            Importing.compress("gz", sent, out);
            sent = out.toByteArray();
        }
        Digest digest = Digest.of(ByteBuffer.wrap(sent));
        try (FileServer server = new FileServer(sent).then(Answer.STALL)) {
            String address = server.address("/file");
            assertTrue(killAt(start(address, digest), "fetched 4"));
            assertFalse(Files.exists(importing.packing().path("image")));
            assertTrue(killAt(start(address, digest), "fetched 8"));
            assertTrue(server.ranges().getLast().startsWith("bytes="), () -> "asked for " + server.ranges());
            if (kind.equals("gz")) {
                assertTrue(killAt(start(address, digest), "read 5"));
            }
            int asked = server.ranges().size();
            assertTrue(killAt(start(address, digest), "5"));
            assertFalse(Files.exists(importing.packing().path("image.manifest")));
            int askedAfter = server.ranges().size();
            assertTrue(askedAfter <= asked + 1);
            assertEquals(
                    expected,
                    importing.run(ImportOrigin.parse(address), Optional.of(digest), "image", ImageModes.READABLE, 0));
            // everything had been downloaded
            assertEquals(askedAfter, server.ranges().size());
            importing.assertEqualImages("expected", "image");
        }
    }
}
