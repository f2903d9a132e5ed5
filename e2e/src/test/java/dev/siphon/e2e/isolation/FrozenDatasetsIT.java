package dev.siphon.e2e.isolation;

import static dev.siphon.e2e.isolation.DeclaredDatasets.READING;
import static dev.siphon.e2e.isolation.DeclaredDatasets.forPodOf;
import static dev.siphon.e2e.isolation.DeclaredDatasets.provision;
import static dev.siphon.e2e.isolation.DeclaredDatasets.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Runs `siphon user offboard` for an account that has no volume but reads a dataset.
@Timeout(300)
@ExtendWith(LeavesNothingBehind.class)
final class FrozenDatasetsIT {
    /// The controller reads the freezes every 15 s, and nodes cache grants for 60 s.
    private static final Duration HEARD_WITHIN = Duration.ofMinutes(2);

    @TempDir
    private Path folder = Path.of("");

    private DeclaredDatasets datasets;

    @BeforeEach
    void pack() throws IOException {
        datasets = new DeclaredDatasets(folder);
        datasets.declare("u1", "u2");
    }

    @AfterEach
    void remove() throws IOException {
        datasets.close();
    }

    @Test
    void aFrozenAccountGetsNoDatasetAndIsShownNoneUntilItGoesOn() throws IOException {
        try (KeyedDriver driver = datasets.start()) {
            Volume mine = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            Volume others = driver.volume(request("pvc-2", "u1/mine", "user-u2"));
            NodeMounts mounts = driver.mountsWithSecretOf(mine, "reader");
            mounts.stage(mine, READING).get();
            mounts.publish(forPodOf("user-u1", mine), READING, "before").get();

            offboard(driver, "u1");
            assertEquals(
                    Code.FAILED_PRECONDITION,
                    provision(driver, request("pvc-3", "u1/mine", "user-u1")).code());
            awaitPublished(mounts, mine, Code.PERMISSION_DENIED);
            driver.mountsWithSecretOf(others, "other").stage(others, READING).get();
            assertEquals(
                    Code.OK,
                    provision(driver, request("pvc-2", "u1/mine", "user-u2")).code());

            offboard(driver, "u1", "--unfreeze");
            Await.until(
                    "a claim is made again",
                    HEARD_WITHIN,
                    () -> provision(driver, request("pvc-1", "u1/mine", "user-u1"))
                                    .code()
                            == Code.OK);
            awaitPublished(mounts, mine, Code.OK);
        }
    }

    private static void awaitPublished(NodeMounts mounts, Volume volume, Code code) {
        Await.until("publishing is " + code, HEARD_WITHIN, () -> {
            boolean is =
                    mounts.publish(forPodOf("user-u1", volume), READING, "pod").code() == code;
            mounts.unpublish(volume, "pod");
            return is;
        });
    }

    private static void offboard(KeyedDriver driver, String... words) {
        String[] all = new String[words.length + 2];
        all[0] = "user";
        all[1] = "offboard";
        System.arraycopy(words, 0, all, 2, words.length);
        Command.Result said = driver.siphon(all);
        assertEquals(0, said.exit(), said::output);
    }
}
