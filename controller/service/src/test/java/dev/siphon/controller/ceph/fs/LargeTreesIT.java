package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.offboard.Archiver;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Trees that a user may create to exhaust the controller's memory.
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LargeTreesIT {
    private static final String FS = CephLab.fileSystem();
    private static final int LEVELS = 300;
    private static final MountPath LONG_NAME = MountPath.of("n".repeat(250));
    private static final MountPath FILE = MountPath.of("file");
    private static final String TEXT = "some data\n";

    private FuseMount fuse;
    private CephConnection connection;
    private CephFileSystems fileSystems;
    private FileTree files;

    /// A snapshot like that of a subvolume.
    private SnapshotId snapshot = new SnapshotId(new VolumeId.Provisioned("lab", FS, "g", "v"), "s");

    private String source = "";
    private String target = "";

    @BeforeAll
    void open() throws Exception {
        fuse = FuseMount.mount();
        connection = new CephConnection(CephLab.access(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
        fileSystems = new CephFileSystems(
                _ -> connection, CephLab.identity(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
        files = fileSystems.files();
    }

    @AfterAll
    void close() throws Exception {
        fileSystems.close();
        connection.close();
        fuse.close();
    }

    @BeforeEach
    void makeDirectories() throws IOException {
        String group = "it-" + UUID.randomUUID().toString().substring(0, 18);
        snapshot = new SnapshotId(new VolumeId.Provisioned("lab", FS, group, "source"), "s");
        source = "/volumes/" + group + "/source";
        target = "/volumes/" + group + "/target";
        Files.createDirectories(fuse.at(source));
        Files.createDirectories(fuse.at(target));
    }

    private <T> T in(Function<Mount, T> body) {
        return fileSystems.client("lab", FS).call("test", body);
    }

    /// Creates nested directories, with a file in the deepest.
    private void makeDeep(int levels, MountPath name) {
        boolean _ = in(mount -> {
            MountPath path = mount.locate(source);
            for (int i = 0; i < levels; i++) {
                path = path.child(name);
                mount.makeDirectory(path);
            }
            try (OpenFile file = mount.open(path.child(FILE), OpenFlags.WRITE | OpenFlags.CREATE)) {
                file.setLength(TEXT.length());
            }
            return true;
        });
    }

    private static MountPath last(MountPath root, int levels, MountPath name) {
        MountPath path = root;
        for (int i = 0; i < levels; i++) {
            path = path.child(name);
        }
        return path;
    }

    private String takeSnapshot() throws IOException {
        Files.createDirectory(fuse.at(source + "/.snap/s"));
        return source + "/.snap/s";
    }

    @Test
    void aDeepTreeOfLongNamesIsCopiedMeasuredAndArchived() throws Exception {
        makeDeep(LEVELS, LONG_NAME);
        String taken = takeSnapshot();
        FileTree.Copy copy = files.copy("lab", FS, taken, target, 1234, 5678);
        copy.done().get(60, TimeUnit.SECONDS);
        assertEquals(LEVELS + 1, copy.copiedEntries().sum());
        FileStat copied = in(mount -> mount.stat(
                        last(mount.locate(target), LEVELS, LONG_NAME).child(FILE))
                .orElseThrow());
        assertEquals(TEXT.length(), copied.sizeBytes());
        assertEquals(1234, copied.uid());

        assertEquals(TEXT.length(), files.measure(snapshot, 1_000, 1L << 30));

        ByteArrayOutputStream tar = new ByteArrayOutputStream();
        Archiver.Archived written = fileSystems.archiver().archive("lab", FS, taken, tar);
        assertEquals(LEVELS + 2, written.entries());
        assertEquals(TEXT.length(), written.bytes());
        MountPath name = last(MountPath.of("."), LEVELS, LONG_NAME).child(FILE);
        assertTrue(tar.toString(StandardCharsets.ISO_8859_1).contains("path=" + name.bytes() + "\n"));
    }

    @Test
    void aTreeThatIsTooDeepIsRefused() throws Exception {
        makeDeep(DirectoryNode.MOST_LEVELS + 1, MountPath.of("d"));
        String taken = takeSnapshot();
        // each has its own mount and takes ten seconds, so they run in parallel
        FileTree.Copy copy = files.copy("lab", FS, taken, target, 1, 1);
        CompletableFuture<Long> measured =
                CompletableFuture.supplyAsync(() -> files.measure(snapshot, 5_000, 1L << 30));
        assertThrows(
                DriverException.InUse.class,
                () -> fileSystems.archiver().archive("lab", FS, taken, new ByteArrayOutputStream()));
        assertEquals(1L << 30, measured.get(60, TimeUnit.SECONDS), "it counts with its volume's size");
        ExecutionException failed =
                assertThrows(ExecutionException.class, () -> copy.done().get(60, TimeUnit.SECONDS));
        String message =
                assertInstanceOf(DriverException.InUse.class, failed.getCause()).getMessage();
        assertTrue(message.contains(taken) && message.contains("1000 directories deep"), message);
    }

    @Test
    void aListingGoesOnWhereItBrokeOff() throws Exception {
        Set<String> made = new HashSet<>();
        boolean _ = in(mount -> {
            for (int i = 0; i < 1_500; i++) {
                made.add("d" + i);
                mount.makeDirectory(mount.locate(source + "/d" + i));
            }
            return true;
        });
        String taken = takeSnapshot();
        Set<String> listed = new HashSet<>();
        int seen = in(mount -> {
            AtomicInteger count = new AtomicInteger();
            OptionalLong from = OptionalLong.of(0);
            while (from.isPresent()) {
                from = mount.listFrom(mount.locate(taken), from.getAsLong(), entry -> {
                    listed.add(entry.name().toString());
                    return count.incrementAndGet() % 7 != 0;
                });
            }
            return count.get();
        });
        assertEquals(made, listed);
        assertEquals(made.size(), seen);
        FileTree.Copy copy = files.copy("lab", FS, taken, target, 1, 1);
        copy.done().get(60, TimeUnit.SECONDS);
        assertEquals(made.size(), copy.copiedEntries().sum());
        try (var there = Files.list(fuse.at(target))) {
            assertEquals(made.size(), there.count());
        }
    }

    @Test
    void anAuditTellsSomeOfWhatShouldNotBeThere() throws Exception {
        Files.writeString(fuse.at(source).resolve(".meta.tmp"), "being written");
        for (int i = 0; i < 30; i++) {
            Files.createFile(fuse.at(source).resolve("f" + i));
        }
        VolumesDirectory.EntryState entry = fileSystems
                .survey()
                .entry(SubvolumeGroup.of(snapshot.volume()), "source")
                .orElseThrow();
        assertEquals(11, entry.others().size(), entry.others().toString());
        assertEquals("and 20 more", entry.others().getLast());
        assertTrue(entry.others().stream().limit(10).allMatch(name -> name.startsWith("f")));
    }

    @Test
    void hardLinksAreKeptAlsoWhereFewCanBeRemembered() throws Exception {
        Path root = fuse.at(source);
        Files.createDirectory(root.resolve("other"));
        for (int i = 0; i < 30; i++) {
            Files.writeString(root.resolve("f" + i), TEXT + i);
            Files.createLink(root.resolve("other/f" + i), root.resolve("f" + i));
            Files.createLink(root.resolve("other/g" + i), root.resolve("f" + i));
        }
        String taken = takeSnapshot();
        ExecutionException refused = assertThrows(
                ExecutionException.class,
                () -> copy(taken, target, new HardLinkBudget(10)).done().get(60, TimeUnit.SECONDS));
        assertInstanceOf(DriverException.QuotaExhausted.class, refused.getCause());
        HardLinkBudget memory = new HardLinkBudget(2_000);
        assertTrue(memory.take(1_990), "as another copy does");
        ExecutionException crowded = assertThrows(
                ExecutionException.class,
                () -> copy(taken, target, memory).done().get(60, TimeUnit.SECONDS));
        assertInstanceOf(DriverException.BackendUnavailable.class, crowded.getCause());
        memory.give(1_990);
        FileTree.Copy copy = copy(taken, target, memory);
        copy.done().get(60, TimeUnit.SECONDS);
        assertTrue(memory.take(2_000), "all of it was given back");
        assertEquals(91, copy.copiedEntries().sum());
        for (int i = 0; i < 30; i++) {
            Path file = fuse.at(target).resolve("f" + i);
            assertEquals(TEXT + i, Files.readString(file));
            assertEquals(3, Files.getAttribute(file, "unix:nlink"));
            for (String name : new String[] {"other/f", "other/g"}) {
                assertEquals(
                        Files.getAttribute(file, "unix:ino"),
                        Files.getAttribute(fuse.at(target).resolve(name + i), "unix:ino"));
            }
        }
    }

    private static FileTree.Copy copy(String from, String to, HardLinkBudget memory) {
        CephFsMounts mounts = new CephFsMounts(CephLab::access, FS, CallLimits.DEFAULT, CephLab.identity());
        try (ExecutorService thread = Executors.newSingleThreadExecutor(
                NativeThreads.numbered("copy-lab-").factory())) {
            return TreeCopy.start(thread, mounts::forCopy, new TreeCopy.Order(from, to, 1, 1), memory);
        }
    }
}
