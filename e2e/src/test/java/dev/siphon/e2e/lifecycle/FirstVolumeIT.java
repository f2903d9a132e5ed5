package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A file system has no `/volumes` before its first volume. Whatever its class, the first call creates it.
@Timeout(300)
@ExtendWith(LeavesNothingBehind.class)
final class FirstVolumeIT {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final CephTree tree = CephTree.mount(Lab.here());

    static Stream<Map<String, String>> classes() {
        return Stream.of(
                Map.of(),
                Map.of("allowance", "100Gi"),
                Map.of("allowance", "100Gi", "overcommit", "true"),
                Map.of("quotaFiles", "1000"),
                Map.of("kind", "home"));
    }

    @BeforeEach
    void setAside() {
        tree.setAside();
    }

    @AfterEach
    void putBack() {
        try (tree) {
            tree.putBack();
        }
    }

    @ParameterizedTest
    @MethodSource("classes")
    void theFirstVolumeNeedsNoOther(Map<String, String> parameters) throws IOException {
        try (Setup setup = Setup.start(DriverFolder.RECONCILE + 1)) {
            CsiClient client = setup.controller();
            Path log = setup.folder().file("controller.log");
            var _ = client.controller()
                    .getCapacity(GetCapacityRequest.newBuilder()
                            .putAllParameters(parameters)
                            .build());
            assertEquals(
                    0,
                    client.controller()
                            .listVolumes(ListVolumesRequest.getDefaultInstance())
                            .getEntriesCount());
            Await.until(
                    "quotas are compared",
                    LIMIT,
                    () -> setup.controllerProcess()
                            .metrics()
                            .lines()
                            .anyMatch(line -> line.matches("siphon_account_reconciled_timestamp_seconds [1-9].*")));

            var _ = setup.volume(Requests.volume("first", "u5", Requests.GIB).toBuilder()
                    .putAllParameters(parameters)
                    .build());

            assertFalse(Files.readString(log).contains("not updated yet"));
        }
    }
}
