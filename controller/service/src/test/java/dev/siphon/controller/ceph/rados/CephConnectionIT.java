package dev.siphon.controller.ceph.rados;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.call.RoundTrips;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CephConnectionIT {
    private static final CephCommand FS_LS = CephCommand.read(Daemon.MON, "fs ls");
    private static final CephCommand GROUPS =
            CephCommand.read(Daemon.MGR, "fs subvolumegroup ls").with("vol_name", CephLab.fileSystem());

    private final List<CephConnection> opened = new ArrayList<>();

    @AfterEach
    void close() {
        CephLab.daemon("sig", "CONT", "mon");
        CephLab.daemon("sig", "CONT", "mgr");
        opened.forEach(CephConnection::close);
    }

    @Test
    void monAndMgrAnswerInJson() {
        CephConnection connection = open(CallLimits.DEFAULT);
        assertTrue(connection.call(FS_LS).json().toString().contains(CephLab.fileSystem()));
        assertTrue(connection.call(GROUPS).json().isJsonArray());
    }

    @Test
    void aRefusalCarriesErrnoAndTheDaemonsWords() {
        CommandReply reply = open(CallLimits.DEFAULT)
                .call(CephCommand.read(Daemon.MGR, "fs subvolume info")
                        .with("vol_name", CephLab.fileSystem())
                        .with("sub_name", "no-such-volume"));
        assertTrue(reply.is(CephErrno.ENOENT));
        DriverException error = assertThrows(DriverException.NotFound.class, reply::orThrow);
        assertTrue(String.valueOf(error.getMessage()).contains("no-such-volume"), error.getMessage());
    }

    @Test
    void roundTripsAreCountedPerOperation() {
        CephConnection connection = open(CallLimits.DEFAULT);
        RoundTrips trips = new RoundTrips();
        trips.count(() -> {
            connection.call(FS_LS);
            connection.call(GROUPS);
            return connection.call(GROUPS);
        });
        connection.call(GROUPS);
        assertEquals(Map.of("mon", 1L, "mgr", 2L), trips.byDaemon());
    }

    @Test
    void sixtyFourCallersAreAllAnswered() throws Exception {
        CephConnection connection = open(CallLimits.DEFAULT);
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<CommandReply>> replies = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                replies.add(callers.submit(() -> connection.call(GROUPS)));
            }
            for (Future<CommandReply> reply : replies) {
                assertEquals(0, reply.get().returnCode());
            }
        }
    }

    @Test
    void replyBuffersAreFreed() throws IOException {
        CephConnection connection = open(CallLimits.DEFAULT);
        CephCommand large = CephCommand.read(Daemon.MON, "config ls");
        int bytes = connection.call(large).output().length();
        assertTrue(bytes > 30_000, "a large reply, not " + bytes);
        for (int i = 0; i < 2_000; i++) {
            connection.call(large);
        }
        long before = nativeBytes();
        for (int i = 0; i < 2_000; i++) {
            connection.call(large);
        }
        long grownBytes = nativeBytes() - before;
        System.out.printf("2000 replies of %d bytes: native memory grew by %d bytes%n", bytes, grownBytes);
        assertTrue(grownBytes < 2_000L * bytes / 8, "grew by " + grownBytes);
    }

    @Test
    void aPausedMonMeansTheDeadlineAndTheKeyStaysTakenUntilTheCallReturns() {
        CephConnection connection = open(CephLab.QUICK);
        connection.call(FS_LS);
        KeyedOperations keys = new KeyedOperations();
        CephLab.daemon("sig", "STOP", "mon");
        assertThrows(DriverException.DeadlinePassed.class, () -> keys.run("a", () -> connection.call(FS_LS)));
        assertThrows(DriverException.OperationPending.class, () -> keys.run("a", () -> connection.call(FS_LS)));
        CephLab.daemon("sig", "CONT", "mon");
        CephLab.await(Duration.ofSeconds(30), () -> keys.inFlight() == 0);
        assertEquals(0, keys.run("a", () -> connection.call(FS_LS)).returnCode());
    }

    @Test
    void aPausedMgrMeansTheDeadlineAndEveryNameIsUsableAgainAfterIt() {
        CephConnection connection = open(CephLab.QUICK);
        connection.call(GROUPS);
        KeyedOperations keys = new KeyedOperations();
        CephLab.daemon("sig", "STOP", "mgr");
        assertThrows(DriverException.DeadlinePassed.class, () -> keys.run("a", () -> connection.call(GROUPS)));
        assertEquals(0, connection.call(FS_LS).returnCode(), "the mon is asked as before");
        CephLab.await(Duration.ofSeconds(20), () -> {
            connection.sweep();
            return keys.inFlight() == 0;
        });
        CephLab.daemon("sig", "CONT", "mgr");
        CephLab.await(Duration.ofSeconds(30), () -> answers(connection, GROUPS));
        assertEquals(0, keys.run("a", () -> connection.call(GROUPS)).returnCode());
    }

    @Test
    void theCallersOwnDeadlineIsKeptWhereItIsShorter() {
        CephConnection connection = new CephConnection(
                CephLab.access(), CallLimits.DEFAULT, () -> Duration.ofMillis(300), CephLab.metrics());
        opened.add(connection);
        CephLab.await(Duration.ofSeconds(10), () -> answers(connection, FS_LS));
        CephLab.daemon("sig", "STOP", "mon");
        long began = System.nanoTime();
        assertThrows(DriverException.DeadlinePassed.class, () -> connection.call(FS_LS));
        assertTrue(System.nanoTime() - began < Duration.ofSeconds(2).toNanos());
    }

    @Test
    void aSilentHandleIsDroppedItsKeysFreedAndANewOneWorksWhenTheMonIsBack() {
        CephConnection connection = open(CephLab.QUICK);
        connection.call(FS_LS);
        KeyedOperations keys = new KeyedOperations();
        CephLab.daemon("sig", "STOP", "mon");
        assertThrows(DriverException.DeadlinePassed.class, () -> keys.run("a", () -> connection.call(FS_LS)));
        CephLab.await(Duration.ofSeconds(20), () -> {
            connection.sweep();
            return keys.inFlight() == 0;
        });
        assertThrows(DriverException.BackendUnavailable.class, () -> keys.run("a", () -> connection.call(FS_LS)));
        CephLab.daemon("sig", "CONT", "mon");
        CephLab.await(Duration.ofSeconds(30), () -> answers(connection, FS_LS));
        assertEquals(0, keys.run("a", () -> connection.call(FS_LS)).returnCode());
    }

    @Test
    void aSaturatedHandleRefusesAtOnce() throws Exception {
        CallLimits two = new CallLimits(
                2, Duration.ofSeconds(1), Duration.ofSeconds(60), Duration.ofSeconds(60), Duration.ofSeconds(2), 1);
        CephConnection connection = open(two);
        connection.call(FS_LS);
        CephLab.daemon("sig", "STOP", "mon");
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<CommandReply>> hung =
                    List.of(callers.submit(() -> connection.call(FS_LS)), callers.submit(() -> connection.call(FS_LS)));
            for (Future<CommandReply> call : hung) {
                assertThrows(ExecutionException.class, call::get);
            }
        }
        long began = System.nanoTime();
        assertThrows(DriverException.BackendUnavailable.class, () -> connection.call(FS_LS));
        assertTrue(System.nanoTime() - began < Duration.ofMillis(300).toNanos());
    }

    @Test
    void aWrongKeyIsToldFromADeadCluster() throws IOException {
        Path keyring = Files.createTempFile("keyring", "");
        Files.writeString(keyring, "[client.admin]\n\tkey = AQAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAA==\n");
        ClusterAccess good = CephLab.access();
        CephConnection connection = new CephConnection(
                new ClusterAccess("bad", good.monitors(), "admin", keyring),
                CephLab.QUICK,
                CephLab.PATIENT,
                CephLab.metrics());
        opened.add(connection);
        DriverException error = assertThrows(DriverException.BackendUnavailable.class, () -> connection.call(FS_LS));
        assertFalse(String.valueOf(error.getMessage()).contains("AQAAAA"), error.getMessage());
        Files.delete(keyring);
    }

    private CephConnection open(CallLimits limits) {
        CephConnection connection = new CephConnection(CephLab.access(), limits, CephLab.PATIENT, CephLab.metrics());
        opened.add(connection);
        return connection;
    }

    private static boolean answers(CephConnection connection, CephCommand command) {
        try {
            return connection.call(command).returnCode() == 0;
        } catch (DriverException _) {
            return false;
        }
    }

    /// Returns the process's memory outside the Java heap.
    private static long nativeBytes() throws IOException {
        long residentKib = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
        return residentKib * 1024 - Runtime.getRuntime().totalMemory();
    }
}
