package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.fetch.BucketKey;
import dev.siphon.node.fetch.BucketLocation;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.fetch.FileServer;
import dev.siphon.node.fetch.FileServer.Answer;
import dev.siphon.node.fetch.WebAddress;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.TestJvm;
import dev.siphon.node.packer.FetchCommand;
import dev.siphon.node.tar.TarWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.stream.Stream;
import org.gaul.s3proxy.S3Proxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Fetches into a file system that is full, and fetchers that are killed.
final class FetchFaultsTest {
    private static final int MEBIBYTE = 1 << 20;
    private static final int FILES = 3000;

    private final Fetching fetching = new Fetching();

    @AfterEach
    void close() {
        fetching.close();
    }

    /// Runs the command as a separate process, so that a test can kill it.
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            System.exit(new CommandLine(new FetchCommand()).execute(args));
        }
    }

    /// Gives the target as much room.
    private void limit(String options) {
        var _ = Programs.run(
                "mount", "-t", "tmpfs", "-o", options, "tmpfs", fetching.into().toString());
    }

    private static void assertNoRoom(FetchFailure failure) {
        assertEquals(Reason.NO_ROOM, failure.reason(), failure.getMessage());
        assertTrue(failure.getMessage().contains("room"), failure.getMessage());
    }

    private void assertNoRoom(byte[] content) {
        fetching.maxFiles = 2 * FILES;
        assertNoRoom(assertThrows(FetchFailure.class, () -> fetching.fetch(content)));
        assertFalse(Files.exists(fetching.into().resolve("data")));
    }

    private static byte[] largeFile() {
        return new TarWriter().with('0', "large", "", new byte[3 * MEBIBYTE]).end();
    }

    private static byte[] manyFiles() {
        TarWriter tar = new TarWriter();
        for (int i = 0; i < FILES; i++) {
            tar.file("d" + i % 7 + "/f" + i, "content " + i);
        }
        return tar.link('2', "link", "d0/f0").end();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a download that is larger, 'size=2m'",
        "an archive and its files together, 'size=5m'",
        "no inode for the lock, 'size=9m,nr_inodes=2'",
        "no inode for the download, 'size=9m,nr_inodes=3'",
        "no inode for its origin, 'size=9m,nr_inodes=4'",
        "no inode for the tree, 'size=9m,nr_inodes=5'",
        "no inode for the file, 'size=9m,nr_inodes=6'"
    })
    void aFullVolumeIsSaid(String what, String options) {
        limit(options);
        assertNoRoom(largeFile());
    }

    @Test
    void tooManySmallFilesForTheVolumeAreSaid() {
        limit("size=64m,nr_inodes=1000");
        assertNoRoom(manyFiles());
    }

    @Test
    void aFolderThatIsLargerThanTheVolumeIsSaid() throws IOException {
        limit("size=2m");
        Path source = fetching.directory("source");
        Files.write(source.resolve("large"), new byte[3 * MEBIBYTE]);
        assertNoRoom(assertThrows(FetchFailure.class, () -> fetching.fetch(new FetchSource.Folder(source))));
        assertFalse(Files.exists(fetching.into().resolve("data")));
    }

    @Test
    void aBucketThatIsLargerThanTheVolumeIsSaid() throws Exception {
        limit("size=2m");
        Path objects = fetching.directory("objects");
        Files.createDirectories(objects.resolve("bucket"));
        for (int i = 0; i < 12; i++) {
            Files.write(objects.resolve("bucket/o" + i), new byte[MEBIBYTE / 4]);
        }
        S3Proxy server = S3Server.of(objects, "alice", "key")
                .endpoint(URI.create("http://127.0.0.1:0"))
                .build();
        server.start();
        try {
            FetchSource source = new FetchSource.Objects(new BucketLocation(
                    WebAddress.parse("http://127.0.0.1:" + server.getPort()),
                    "bucket",
                    "",
                    "us-east-1",
                    new BucketKey.Signed("alice", "key", ""),
                    Fetching.LOOPBACK));
            assertNoRoom(assertThrows(FetchFailure.class, () -> fetching.fetch(source)));
            assertFalse(Files.exists(fetching.into().resolve("data")));
        } finally {
            server.stop();
        }
    }

    /// The C library's text is all that Java tells of EDQUOT, which no tmpfs has on older kernels.
    @Test
    void aQuotaIsRoomToo() {
        assertEquals(
                Reason.NO_ROOM,
                WorkDirectory.failure(Path.of("x"), new IOException("x: Disk quota exceeded"))
                        .reason());
    }

    private Process start(String... source) throws IOException {
        List<String> words = new ArrayList<>(List.of(
                "--into=" + fetching.into(),
                "--allow-private=127.0.0.0/8",
                "--min-bytes-per-second=0",
                "--termination-log=" + fetching.directory("log").resolve("end")));
        words.addAll(List.of(source));
        return TestJvm.of(Main.class, words.toArray(String[]::new))
                .redirectErrorStream(true)
                .start();
    }

    /// Kills a fetcher (SIGKILL) when it prints that it begins a step.
    private static void killAt(Process process, String step) throws IOException {
        try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
            List<String> lines = new ArrayList<>();
            boolean isThere = false;
            for (String line = said.readLine(); line != null && !isThere; line = said.readLine()) {
                lines.add(line);
                isThere = line.contains("\"step\":\"" + step + "\"");
                if (isThere) {
                    break;
                }
            }
            TestJvm.kill(process);
            assertTrue(isThere, lines::toString);
        }
    }

    private static void finish(Process process) throws IOException, InterruptedException {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
    }

    private SortedMap<String, String> expected(byte[] content) {
        try (Fetching whole = new Fetching()) {
            whole.maxFiles = 2 * FILES;
            var _ = whole.fetch(content);
            return whole.tree();
        }
    }

    @Test
    void aFetcherThatIsKilledWhileItDownloadsFinishesTheSameTree() throws IOException, InterruptedException {
        byte[] tar = manyFiles();
        try (FileServer server = new FileServer(tar).then(Answer.HALF_THEN_TELL)) {
            Process[] first = new Process[1];
            var _ = server.whenHalfIsSent(_ -> {
                awaitLength(tar.length / 2);
                TestJvm.kill(first[0]);
            });
            first[0] = start("--url=" + server.address("/file"));
            first[0].waitFor();
            assertFalse(Files.exists(fetching.into().resolve("data")));
            finish(start("--url=" + server.address("/file")));
            assertEquals("bytes=" + tar.length / 2 + "-", server.ranges().getLast());
        }
        assertEquals(expected(tar), fetching.tree());
        fetching.assertNothingLeft();
    }

    private void awaitLength(long bytes) {
        Path download = fetching.into().resolve(".siphon-fetch/download");
        while (!Files.exists(download) || length(download) < bytes) {
            Thread.onSpinWait();
        }
    }

    private static long length(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aFetcherThatIsKilledWhileItUnpacksFinishesTheSameTree() throws IOException, InterruptedException {
        byte[] tar = manyFiles();
        try (FileServer server = new FileServer(tar)) {
            killAt(start("--url=" + server.address("/file")), "unpacking");
            assertFalse(Files.exists(fetching.into().resolve("data")));
            finish(start("--url=" + server.address("/file")));
        }
        assertEquals(expected(tar), fetching.tree());
        fetching.assertNothingLeft();
    }

    @Test
    void aFetcherThatIsKilledWhileItCopiesFinishesTheSameTree() throws IOException, InterruptedException {
        Path source = fetching.directory("source");
        for (int i = 0; i < FILES; i++) {
            Files.writeString(
                    Files.createDirectories(source.resolve("d" + i % 7)).resolve("f" + i), "content " + i);
        }
        killAt(start("--from=" + source), "copying");
        assertFalse(Files.exists(fetching.into().resolve("data")));
        finish(start("--from=" + source));
        assertEquals(Fetching.tree(source), fetching.tree());
        try (Stream<Path> left = Files.list(fetching.into())) {
            assertEquals(1, left.count());
        }
    }
}
