package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CephFileTreeIT {
    private static final String FS = CephLab.fileSystem();
    private static final byte[] LINE = "some data\n".getBytes(StandardCharsets.UTF_8);
    private static final FileTime THEN = FileTime.from(Instant.parse("2001-02-03T04:05:06.789012345Z"));

    private FuseMount fuse;
    private String base;
    private CephConnection connection;
    private CephFileSystems fileSystems;
    private FileTree files;

    @BeforeAll
    void mountFuse() throws Exception {
        fuse = FuseMount.mount();
    }

    @AfterAll
    void unmountFuse() throws Exception {
        fuse.close();
    }

    @BeforeEach
    void open() throws IOException {
        base = "/volumes/it-" + UUID.randomUUID();
        Files.createDirectories(fuse.at(base + "/source"));
        Files.createDirectories(fuse.at(base + "/target"));
        open(CallLimits.DEFAULT);
    }

    private void open(CallLimits limits) {
        connection = new CephConnection(CephLab.access(), limits, CephLab.PATIENT, CephLab.metrics());
        fileSystems =
                new CephFileSystems(_ -> connection, CephLab.identity(), limits, CephLab.PATIENT, CephLab.metrics());
        files = fileSystems.files();
    }

    @AfterEach
    void close() {
        CephLab.daemon("sig", "CONT", "mds");
        fileSystems.close();
        connection.close();
    }

    @Test
    void quotasAreSetReadAndRemoved() throws IOException {
        String path = base + "/source";
        assertEquals(OptionalLong.empty(), files.quotaBytes("lab", FS, path));
        files.setQuotaBytes("lab", FS, path, 4L << 20);
        assertEquals(OptionalLong.of(4L << 20), files.quotaBytes("lab", FS, path));
        files.setQuotaBytes("lab", FS, path, 0);
        assertEquals(OptionalLong.empty(), files.quotaBytes("lab", FS, path));
        files.setQuotaFiles("lab", FS, path, 2);
        Files.createDirectory(fuse.at(path + "/a"));
        files.setQuotaFiles("lab", FS, path, 0);
        Files.createDirectory(fuse.at(path + "/b"));
        Files.createDirectory(fuse.at(path + "/c"));
    }

    @Test
    void modesAreSet() throws IOException {
        files.setMode("lab", FS, base + "/source", 0751);
        assertEquals(
                PosixFilePermissions.fromString("rwxr-x--x"), Files.getPosixFilePermissions(fuse.at(base + "/source")));
    }

    @Test
    void filesAreCounted() throws IOException {
        Files.write(fuse.at(base + "/source/a"), LINE);
        CephLab.await(Duration.ofSeconds(30), () -> files.fileCount("lab", FS, base + "/source") == 1);
    }

    @Test
    void whatIsNotThereIsNotFound() {
        assertThrows(DriverException.NotFound.class, () -> files.quotaBytes("lab", FS, base + "/nothing"));
        assertThrows(DriverException.NotFound.class, () -> files.dataDirectory("lab", FS, base + "/nothing"));
        assertThrows(DriverException.NotFound.class, () -> files.dataDirectory("lab", FS, base + "/source"));
    }

    @Test
    void noSymlinkIsFollowed() throws IOException {
        Files.createSymbolicLink(fuse.at(base + "/link"), Path.of("source"));
        Files.createDirectory(fuse.at(base + "/source/in"));
        assertThrows(DriverException.InvalidRequest.class, () -> files.setQuotaBytes("lab", FS, base + "/link", 1));
        assertThrows(DriverException.InvalidRequest.class, () -> files.setMode("lab", FS, base + "/link/in", 0));
        Files.write(fuse.at(base + "/file"), LINE);
        assertThrows(DriverException.InvalidRequest.class, () -> files.setMode("lab", FS, base + "/file", 0));
    }

    @Test
    void theDataDirectoryIsTheOneNamedByAUuidAlsoInASnapshot() throws IOException {
        String uuid = UUID.randomUUID().toString();
        Files.createDirectory(fuse.at(base + "/source/" + uuid));
        Files.createDirectory(fuse.at(base + "/source/other"));
        Files.createDirectory(fuse.at(base + "/source/.snap/one"));
        assertEquals(base + "/source/" + uuid, files.dataDirectory("lab", FS, base + "/source"));
        String snapshot = base + "/source/.snap/one";
        assertEquals(snapshot + "/" + uuid, files.dataDirectory("lab", FS, snapshot));
        assertEquals(OptionalLong.empty(), files.quotaBytes("lab", FS, snapshot + "/" + uuid));
        Files.createDirectory(fuse.at(base + "/source/" + UUID.randomUUID()));
        assertThrows(DriverException.BackendFault.class, () -> files.dataDirectory("lab", FS, base + "/source"));
    }

    @Test
    void aUserWhoseCapsEndAtVolumesReachesThoseAndNothingElse() throws IOException {
        String outside = "/it-" + UUID.randomUUID();
        Files.createDirectories(fuse.at(outside));
        files.setQuotaBytes("lab", FS, outside, 2L << 20);
        assertEquals(OptionalLong.of(2L << 20), files.quotaBytes("lab", FS, outside), "by a user without such caps");
        Path keyring = Files.createTempFile("keyring", "");
        Files.writeString(
                keyring,
                CephLab.keyring(connection, "client.volumes-only", "allow rwp fsname=" + FS + " path=/volumes"));
        ClusterAccess access = new ClusterAccess("lab", CephLab.access().monitors(), "volumes-only", keyring);
        CephConnection narrow = new CephConnection(access, CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
        try (CephFileSystems reach = new CephFileSystems(
                _ -> narrow, CephLab.identity(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics())) {
            reach.files().setQuotaBytes("lab", FS, base + "/source", 1L << 20);
            assertEquals(OptionalLong.of(1L << 20), reach.files().quotaBytes("lab", FS, base + "/source"));
            assertThrows(DriverException.AccessDenied.class, () -> reach.files().quotaBytes("lab", FS, outside));
        } finally {
            narrow.close();
            Files.delete(keyring);
        }
    }

    @Test
    void aCopyHasEverythingThatTheSourceHas() throws Exception {
        Path source = fuse.at(base + "/source");
        makeTree(source);
        Files.createDirectory(source.resolve(".snap/s"));
        FileTree.Copy copy = files.copy("lab", FS, base + "/source/.snap/s", base + "/target", 1234, 5678);
        copy.done().get(60, TimeUnit.SECONDS);
        assertSame(source, fuse.at(base + "/target"));
        assertEquals(
                Files.readString(source.resolve("d/e/deep")).length() + LINE.length * 2L + (9L << 20) + 3,
                copy.copiedBytes().sum());
    }

    @Test
    void aCopyThatWasInterruptedIsCompleted() throws Exception {
        Path source = fuse.at(base + "/source");
        makeTree(source);
        files.copy("lab", FS, base + "/source", base + "/target", 1234, 5678)
                .done()
                .get(60, TimeUnit.SECONDS);
        Path target = fuse.at(base + "/target");
        Files.write(target.resolve("file"), "half".getBytes(StandardCharsets.UTF_8));
        Files.delete(target.resolve("link"));
        Files.delete(target.resolve("second-name"));
        files.copy("lab", FS, base + "/source", base + "/target", 1234, 5678)
                .done()
                .get(60, TimeUnit.SECONDS);
        assertSame(source, target);
    }

    @Test
    void namesThatAreNotUtf8AreKept() throws Exception {
        // Java cannot express this file name; a shell can
        Process made = new ProcessBuilder(
                        "sh", "-c", "cd \"$1\" && touch \"$(printf 'a\\377b')\"", "sh", fuse.at(base + "/source") + "")
                .start();
        assertEquals(0, made.waitFor());
        files.copy("lab", FS, base + "/source", base + "/target", 1, 1).done().get(60, TimeUnit.SECONDS);
        Process listed = new ProcessBuilder("ls", fuse.at(base + "/target") + "").start();
        assertArrayEquals(
                new byte[] {'a', (byte) 0377, 'b', '\n'},
                listed.getInputStream().readAllBytes());
    }

    @Test
    void aCopyIntoATooSmallQuotaFailsAsQuotaExhausted() throws IOException {
        try (FileChannel file =
                FileChannel.open(fuse.at(base + "/source/big"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            byte[] block = new byte[1 << 20];
            java.util.Arrays.fill(block, (byte) 7);
            for (int i = 0; i < 64; i++) {
                file.write(java.nio.ByteBuffer.wrap(block));
            }
        }
        files.setQuotaBytes("lab", FS, base + "/target", 1L << 20);
        FileTree.Copy copy = files.copy("lab", FS, base + "/source", base + "/target", 1, 1);
        ExecutionException failed =
                assertThrows(ExecutionException.class, () -> copy.done().get(60, TimeUnit.SECONDS));
        assertInstanceOf(DriverException.QuotaExhausted.class, failed.getCause());
    }

    @Test
    void aCopyCanBeCancelledWhileTheMdsHangs() throws Exception {
        makeTree(fuse.at(base + "/source"));
        CephLab.daemon("sig", "STOP", "mds");
        FileTree.Copy copy = files.copy("lab", FS, base + "/source", base + "/target", 1, 1);
        copy.done().cancel(true);
        assertThrows(CancellationException.class, copy.done()::join);
        CephLab.daemon("sig", "CONT", "mds");
        files.copy("lab", FS, base + "/source", base + "/target", 1, 1).done().get(60, TimeUnit.SECONDS);
    }

    @Test
    void aHungMdsMeansTheDeadlineAndTheKeyIsFreedInTheEnd() {
        fileSystems.close();
        open(CephLab.QUICK);
        KeyedOperations keys = new KeyedOperations();
        files.quotaBytes("lab", FS, base + "/source");
        CephLab.daemon("sig", "STOP", "mds");
        assertThrows(
                DriverException.DeadlinePassed.class,
                () -> keys.run("a", () -> files.setQuotaBytes("lab", FS, base + "/source", 1L << 20)));
        assertEquals(1, keys.inFlight());
        CephLab.await(Duration.ofSeconds(20), () -> {
            fileSystems.sweep();
            return keys.inFlight() == 0;
        });
        CephLab.daemon("sig", "CONT", "mds");
        CephLab.await(Duration.ofSeconds(60), this::answers);
    }

    private boolean answers() {
        try {
            files.setMode("lab", FS, base + "/source", 0700);
            return true;
        } catch (DriverException.BackendUnavailable | DriverException.DeadlinePassed _) {
            return false;
        }
    }

    /// Creates one file of every kind.
    private static void makeTree(Path root) throws IOException {
        Files.createDirectories(root.resolve("d/e"));
        Files.write(root.resolve("file"), LINE);
        Files.write(root.resolve("d/e/deep"), "deep".repeat(700_000).getBytes(StandardCharsets.UTF_8));
        Files.write(root.resolve("first-name"), LINE);
        Files.createLink(root.resolve("second-name"), root.resolve("first-name"));
        Files.createSymbolicLink(root.resolve("link"), Path.of("/etc/passwd"));
        Files.createSymbolicLink(root.resolve("dangling"), Path.of("../no/where"));
        try (FileChannel sparse =
                FileChannel.open(root.resolve("sparse"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            sparse.write(java.nio.ByteBuffer.wrap(new byte[] {1, 2, 3}), 9L << 20);
        }
        for (int i = 0; i < 300; i++) {
            Files.createFile(root.resolve("d/" + i));
        }
        view(root.resolve("file")).write("mood", java.nio.ByteBuffer.wrap(new byte[] {0, 1, -1}));
        view(root.resolve("d")).write("on-directory", java.nio.ByteBuffer.wrap(LINE));
        Files.setPosixFilePermissions(root.resolve("file"), PosixFilePermissions.fromString("r-x-w--wx"));
        Files.setPosixFilePermissions(root.resolve("d/e"), PosixFilePermissions.fromString("r-x------"));
        Files.setLastModifiedTime(root.resolve("file"), THEN);
        Files.setLastModifiedTime(root.resolve("d"), THEN);
    }

    private static UserDefinedFileAttributeView view(Path path) {
        return Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
    }

    private static void assertSame(Path source, Path target) throws IOException {
        try (var all = Files.walk(source)) {
            for (Path each : all.filter(path -> !path.equals(source)).toList()) {
                assertSameEntry(each, target.resolve(source.relativize(each)));
            }
        }
        assertEquals(
                Files.getAttribute(target.resolve("first-name"), "unix:ino"),
                Files.getAttribute(target.resolve("second-name"), "unix:ino"));
        assertTrue(Files.exists(target.resolve("file")));
    }

    private static void assertSameEntry(Path source, Path target) throws IOException {
        for (String attribute : new String[] {"mode", "size", "lastModifiedTime", "nlink"}) {
            assertEquals(
                    Files.getAttribute(source, "unix:" + attribute, LinkOption.NOFOLLOW_LINKS),
                    Files.getAttribute(target, "unix:" + attribute, LinkOption.NOFOLLOW_LINKS),
                    attribute + " of " + target);
        }
        assertEquals(1234, Files.getAttribute(target, "unix:uid", LinkOption.NOFOLLOW_LINKS));
        assertEquals(5678, Files.getAttribute(target, "unix:gid", LinkOption.NOFOLLOW_LINKS));
        if (Files.isSymbolicLink(source)) {
            assertEquals(Files.readSymbolicLink(source), Files.readSymbolicLink(target));
            return;
        }
        if (Files.isRegularFile(source)) {
            assertEquals(-1, Files.mismatch(source, target), target.toString());
        }
        assertEquals(view(source).list(), view(target).list());
        for (String name : view(source).list()) {
            assertArrayEquals(value(source, name), value(target, name));
        }
    }

    private static byte[] value(Path path, String name) throws IOException {
        java.nio.ByteBuffer buffer = java.nio.ByteBuffer.allocate(view(path).size(name));
        view(path).read(name, buffer);
        return buffer.array();
    }
}
