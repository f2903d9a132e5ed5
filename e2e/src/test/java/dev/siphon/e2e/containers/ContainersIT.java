package dev.siphon.e2e.containers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Volume;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Container.ExecResult;

/// Runs the driver's image as an administrator would without Kubernetes, on a Ceph in a container: `make docker`.
@Tag("containers")
final class ContainersIT {
    private static final int STRANGER = 4711;

    /// The number of this version's cases that default mode passes: docs/contributing.md.
    private static final int CASES = 91;

    private static Optional<Containers> containers = Optional.empty();
    private static Optional<ContainedDriver> driver = Optional.empty();

    @BeforeAll
    static void start() {
        containers = Optional.of(Containers.create());
        driver = containers.map(ContainedDriver::start);
    }

    @AfterAll
    static void end() {
        containers.ifPresent(Containers::close);
    }

    @AfterEach
    void nothingIsLeft() {
        assertEquals(List.of(), driver().subvolumes());
    }

    private static ContainedDriver driver() {
        return driver.orElseThrow();
    }

    @Test
    void csiSanityPasses() {
        SanityReport report = driver().sanity();

        assertEquals(List.of(), report.failures());
        assertEquals(0, report.failed());
        assertEquals(0, report.exit());
        assertTrue(report.passed() >= CASES, () -> "only " + report.passed() + " cases passed");
    }

    @Test
    void containersShareAVolumeAsItsAccountAndNobodyElseDoes() {
        Volume volume = driver().controller()
                .controller()
                .createVolume(Requests.volume("shared", ContainedDriver.ACCOUNT, Requests.GIB))
                .getVolume();
        try (NodeMounts mounts = driver().mounts()) {
            Path data = mounts.mount(volume);
            String file = data.resolve("file").toString();

            ExecResult written =
                    in(ContainedDriver.ACCOUNT_UID, data, "echo hello >\"$1\" && stat -c %u:%g \"$1\"", file);
            ExecResult read = in(ContainedDriver.ACCOUNT_UID, data, "cat \"$1\"", file);
            ExecResult refused = in(STRANGER, data, "cat \"$1\"", file);

            assertEquals("10003:10003\n", written.getStdout());
            assertEquals("hello\n", read.getStdout());
            assertNotEquals(0, refused.getExitCode());
            assertTrue(refused.getStderr().contains("Permission denied"), refused::getStderr);
        }
        var _ = driver().controller().controller().deleteVolume(Requests.delete(volume.getVolumeId()));
    }

    /// Runs a script as a user, in a new container on a volume.
    private static ExecResult in(int uid, Path data, String script, String file) {
        try (EngineContainer pod = new EngineContainer(LabImage.DRIVER.reference())
                .confinedTo(uid)
                .writing(data)
                .withCommand("sleep", "infinity")) {
            pod.start();
            return pod.attempt(Duration.ofSeconds(30), "sh", "-c", script, "sh", file);
        }
    }
}
