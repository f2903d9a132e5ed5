package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Trees that a user may create, flattened before they are deleted.
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TreeFlattenerIT {
    private static final String FS = CephLab.fileSystem();

    private FuseMount fuse;
    private CephConnection connection;
    private VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", FS, "g", "v");

    /// A data directory like that of a subvolume.
    private Path data = Path.of("");

    @BeforeAll
    void open() throws Exception {
        fuse = FuseMount.mount();
        connection = new CephConnection(CephLab.access(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
    }

    @AfterAll
    void close() throws Exception {
        connection.close();
        fuse.close();
    }

    @BeforeEach
    void makeVolume() throws IOException {
        volume = new VolumeId.Provisioned(
                "lab", FS, "it-" + UUID.randomUUID().toString().substring(0, 18), "v");
        data = fuse.at("/volumes/" + volume.group() + "/v/" + UUID.randomUUID());
        Files.createDirectories(data);
    }

    private void flatten(Supplier<Duration> timeLeft) {
        try (CephFileSystems own = new CephFileSystems(
                _ -> connection, CephLab.identity(), CallLimits.DEFAULT, timeLeft, CephLab.metrics())) {
            own.files().flatten(volume);
        }
    }

    /// Runs a Perl script in a directory, and returns its output.
    private static String in(Path directory, String script) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("perl", "-e", script)
                .directory(directory.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        assertEquals(0, process.waitFor(), script);
        return said;
    }

    /// Creates nested directories, with a file in the deepest.
    private static void makeChain(Path directory, int levels, String name) throws Exception {
        in(
                directory,
                "for (1.." + levels + ") { mkdir " + name + " or die $!; chdir " + name + " or die $!; }"
                        + " open(F, '>', 'last') or die $!;");
    }

    /// Returns the number of directories, the largest depth, and the number of files named `last`.
    private static String shape(Path directory) throws Exception {
        return in(
                directory,
                "sub f { my ($l) = @_; $n++; $m = $l if $l > $m; opendir(my $d, '.') or die $!;"
                        + " my @e = readdir $d; closedir $d; for my $e (@e) { next if $e eq '.' || $e eq '..';"
                        + " if (-l $e) { $s++ } elsif (-d _) { chdir $e or die $!; f($l + 1); chdir '..' or die $!; }"
                        + " elsif ($e eq 'last') { $k++ } } }"
                        + " no warnings; f(0); print \"$n directories, $m levels, $k last, \" . ($s + 0) . ' links';");
    }

    private static int levels(String shape) {
        return Integer.parseInt(shape.replaceAll(".*, ([0-9]+) levels.*", "$1"));
    }

    private static void assertShape(int directories, int last, int links, String shape) {
        assertTrue(levels(shape) <= TreeFlattener.MOST_LEVELS, shape);
        assertEquals(
                directories + " directories, " + levels(shape) + " levels, " + last + " last, " + links + " links",
                shape);
    }

    @Test
    void aChainIsCutAndNothingOfItIsLost() throws Exception {
        makeChain(data, 700, "'d'");
        flatten(CephLab.PATIENT);
        assertShape(701, 1, 0, shape(data));
        flatten(CephLab.PATIENT);
        assertShape(701, 1, 0, shape(data));
    }

    @Test
    void chainsAreFoundInBushyTreesWhateverTheirNames() throws Exception {
        in(
                data,
                "for my $i (1..30) { mkdir \"b$i\"; mkdir \"b$i/c$_\" for 1..30; open(F, '>', \"b$i/f$_\") for 1..9; }");
        makeChain(data.resolve("b7/c9"), 200, "\"a\\xff\\n\\x01\"");
        makeChain(data.resolve("b7/c9"), 200, "'n' x 255");
        in(data, "mkdir 'wide'; mkdir \"wide/$_\" for 1..300;");
        makeChain(data.resolve("wide/299"), 150, "'-rf'");
        flatten(CephLab.PATIENT);
        assertShape(1 + 30 + 900 + 400 + 301 + 150, 3, 0, shape(data));
    }

    @Test
    void aTreeThatIsNotDeepStaysAsItIs() throws Exception {
        in(data, "for my $i (1..20) { mkdir \"b$i\"; mkdir \"b$i/c$_\" for 1..10; }");
        makeChain(data, 60, "'d'");
        String before = in(data, "print join ' ', sort glob '*'");
        flatten(CephLab.PATIENT);
        assertEquals(before, in(data, "print join ' ', sort glob '*'"));
        assertEquals(60, levels(shape(data)));
    }

    @Test
    void nothingOutsideIsTouchedByWayOfALink() throws Exception {
        Path outside = data.resolveSibling("outside");
        Files.createDirectory(outside);
        makeChain(outside, 200, "'d'");
        makeChain(data, 200, "'d'");
        Files.createSymbolicLink(data.resolve("link"), outside);
        Files.createSymbolicLink(data.resolve("d/link"), Path.of("/" + volume.group() + "/v/outside"));
        Files.createSymbolicLink(data.resolve("d/d/up"), Path.of("../../../outside"));
        Path other = data.resolveSibling(UUID.randomUUID().toString());
        Files.createSymbolicLink(other, outside);
        flatten(CephLab.PATIENT);
        assertShape(201, 1, 3, shape(data));
        assertEquals("201 directories, 200 levels, 1 last, 0 links", shape(outside));
        assertEquals("d", in(outside, "print glob '*'"));
    }

    @Test
    void aRetryGoesOnWhereTheTryBeforeBrokeOff() throws Exception {
        makeChain(data, 3_000, "'d'");
        AtomicLong end = new AtomicLong();
        int tries = 0;
        try (CephFileSystems own = new CephFileSystems(
                _ -> connection,
                CephLab.identity(),
                CallLimits.DEFAULT,
                () -> Duration.ofNanos(end.get() - System.nanoTime()),
                CephLab.metrics())) {
            int seen = 0;
            for (OptionalInt now = OptionalInt.of(0); now.isPresent(); tries++) {
                assertTrue(now.getAsInt() >= seen, "it began anew after " + seen);
                seen = now.getAsInt();
                // leaves less than one turn beyond the time reserved for the removal
                end.set(System.nanoTime() + Duration.ofMillis(5_300).toNanos());
                now = lookedInto(own);
            }
        }
        assertTrue(tries > 1, "it was done at once");
        assertShape(3_001, 1, 0, shape(data));
    }

    /// Returns the reported number of directories visited; empty when everything is done.
    private OptionalInt lookedInto(CephFileSystems own) {
        try {
            own.files().flatten(volume);
            return OptionalInt.empty();
        } catch (DriverException.OperationPending notYet) {
            String message = String.valueOf(notYet.getMessage());
            return OptionalInt.of(Integer.parseInt(message.replaceAll(".*: ([0-9]+) looked into, .*", "$1")));
        }
    }

    @Test
    void anotherControllerGoesOnWithWhatOneHasLeft() throws Exception {
        makeChain(data, 3_000, "'d'");
        // leaves a quarter of a second, which is too short for a turn
        assertThrows(DriverException.OperationPending.class, () -> flatten(() -> Duration.ofSeconds(4)));
        flatten(CephLab.PATIENT);
        assertShape(3_001, 1, 0, shape(data));
    }

    @Test
    void aVolumeThatIsNotThereIsFlat() {
        flatten(CephLab.PATIENT);
        volume = new VolumeId.Provisioned("lab", FS, "it-nobody", "v");
        flatten(CephLab.PATIENT);
    }

    @Test
    void whatIsBelowADirectoryNamedAsSnapshotsIsFound() throws Exception {
        try (FuseMount pod = FuseMount.mount("--client_snapdir=other")) {
            Path own = pod.at("/" + fuse.at("/").relativize(data));
            in(own, "for ('.snap', 'e', 'e/.snap', 'f', 'f/.snap') { mkdir or die $! } open(F, '>', 'f/.snap/last');");
            makeChain(own.resolve(".snap"), 200, "'d'");
            makeChain(own.resolve("e/.snap"), 200, "'d'");
            flatten(CephLab.PATIENT);
            assertShape(406, 3, 0, shape(own));
            assertEquals("", in(own, "print grep { -d } ('.snap', 'e/.snap', 'f/.snap')"));
        }
    }

    @Test
    void inAFileSystemWithoutVolumesNothingIsDeep() throws Exception {
        Path aside = fuse.at("/aside-" + UUID.randomUUID());
        Files.move(fuse.at("/volumes"), aside);
        try {
            flatten(CephLab.PATIENT);
        } finally {
            Files.move(aside, fuse.at("/volumes"));
        }
    }

    private void limitMetadata(long objects) {
        connection
                .call(CephCommand.change(CephCommand.Daemon.MON, "osd pool set-quota")
                        .with("pool", FS + ".meta")
                        .with("field", "max_objects")
                        .with("val", Long.toString(objects)))
                .orThrow();
    }

    /// Returns whether clients without the MDS cap for full clusters are refused to create and rename files.
    private boolean isFull(CephFileSystems controller) {
        return controller.client("lab", FS).call("look", mount -> {
            MountPath link = mount.locate("/volumes/" + volume.group() + "/link-" + UUID.randomUUID());
            try {
                mount.makeSymlink(MountPath.of("nothing"), link);
                mount.unlink(link);
                return false;
            } catch (DriverException.QuotaExhausted | DriverException.AccessDenied full) {
                // the MDS checks whether the client may write to a full cluster, and returns EACCES
                return true;
            }
        });
    }

    @Test
    void aFullClusterLetsAVolumeBeRemovedAsItIs(@TempDir Path folder) throws Exception {
        makeChain(data, 200, "'d'");
        Path keyring = folder.resolve("keyring");
        String user = "it-full-" + volume.group();
        // caps as `siphon ceph-caps` creates for a controller
        Files.writeString(
                keyring, CephLab.keyring(connection, "client." + user, "allow rwp fsname=" + FS + " path=/volumes"));
        ClusterAccess access = new ClusterAccess("lab", CephLab.access().monitors(), user, keyring);
        try (CephConnection asController =
                        new CephConnection(access, CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
                CephFileSystems own = new CephFileSystems(
                        _ -> asController,
                        CephLab.identity(),
                        CallLimits.DEFAULT,
                        CephLab.PATIENT,
                        CephLab.metrics())) {
            limitMetadata(1);
            try {
                CephLab.await(Duration.ofSeconds(60), () -> isFull(own));
                own.files().flatten(volume);
                assertEquals("201 directories, 200 levels, 1 last, 0 links", shape(data));
            } finally {
                limitMetadata(0);
                CephLab.await(Duration.ofSeconds(60), () -> !isFull(own));
            }
            own.files().flatten(volume);
        }
        assertShape(201, 1, 0, shape(data));
    }

    @Test
    void nobodyWaitsInATreeForACallThatTheMdsKeeps() throws Exception {
        makeChain(data, 5, "'d'");
        String path = "/" + fuse.at("/").relativize(data);
        TreeFlattener tree = new TreeFlattener(path);
        Duration limit = Duration.ofSeconds(2);
        try (CephFileSystems own = new CephFileSystems(
                _ -> connection, CephLab.identity(), CallLimits.DEFAULT, () -> limit, CephLab.metrics())) {
            CephFs client = own.forRemovals("lab", FS);
            assertTrue(client.call("look", mount -> mount.stat(mount.locate("/volumes")))
                    .isPresent());
            CephLab.daemon("sig", "STOP", "mds");
            try {
                assertThrows(
                        DriverException.DeadlinePassed.class,
                        () -> client.call("work", mount -> tree.work(mount, System.nanoTime(), true)));
                assertThrows(
                        DriverException.OperationPending.class,
                        () -> client.call("work again", mount -> tree.work(mount, System.nanoTime(), true)));
            } finally {
                CephLab.daemon("sig", "CONT", "mds");
            }
        }
    }
}
