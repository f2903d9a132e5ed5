package dev.siphon.controller.ceph.rados;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Daemons fail while commands run: librados resends the commands to their successors, on the same handle.
@Timeout(180)
class DaemonFailureIT {
    private static final int CALLERS = 8;
    private static final CephCommand GROUPS =
            CephCommand.read(Daemon.MGR, "fs subvolumegroup ls").with("vol_name", CephLab.fileSystem());
    private static final CephCommand MGR_DUMP = CephCommand.read(Daemon.MON, "mgr dump");
    private static final CephCommand FS_LS = CephCommand.read(Daemon.MON, "fs ls");

    /// If a mgr is killed before it has reported its file system client to the mon, it leaves a session. The MDS
    /// then waits a minute for it.
    private static final CallLimits LONG = new CallLimits(
            16, Duration.ofSeconds(90), Duration.ofSeconds(90), Duration.ofSeconds(90), Duration.ofSeconds(3), 1);

    private final CephConnection connection =
            new CephConnection(CephLab.access(), LONG, CephLab.PATIENT, CephLab.metrics());
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void connect() {
        CephLab.await(Duration.ofSeconds(60), () -> {
            assertEquals(0, connection.call(GROUPS).returnCode());
            return connection.call(MGR_DUMP).output().contains("\"name\":\"volumes\"");
        });
    }

    @AfterEach
    void close() {
        callers.close();
        connection.close();
    }

    @Test
    void commandsToAMgrThatIsKilledAreAnsweredByTheNext() throws Exception {
        CephLab.daemon("sig", "STOP", "mgr");
        List<Future<CommandReply>> replies = call(GROUPS);
        CephLab.daemon("sig", "KILL", "mgr");
        CephLab.daemon("start", "mgr");
        assertAnswered(replies);
    }

    @Test
    void commandsToAMonThatIsRestartedAreAnswered() throws Exception {
        CephLab.daemon("sig", "STOP", "mon");
        List<Future<CommandReply>> replies = call(FS_LS);
        CephLab.daemon("sig", "KILL", "mon");
        CephLab.daemon("start", "mon");
        assertAnswered(replies);
    }

    @Test
    void mgrCommandsGoOnWhileTheMonIsPaused() throws Exception {
        CephLab.daemon("sig", "STOP", "mon");
        List<Future<CommandReply>> replies = call(GROUPS);
        assertAnswered(replies);
        CephLab.daemon("sig", "CONT", "mon");
    }

    private List<Future<CommandReply>> call(CephCommand command) {
        List<Future<CommandReply>> replies = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            replies.add(callers.submit(() -> connection.call(command)));
        }
        return replies;
    }

    private static void assertAnswered(List<Future<CommandReply>> replies) throws Exception {
        for (Future<CommandReply> reply : replies) {
            assertEquals(0, reply.get().returnCode(), reply.get().words());
        }
    }
}
