package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.kubernetes.Leadership.Clocks;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LeadershipTest extends LeadershipContract {
    private final InMemoryApiServer server = new InMemoryApiServer();
    private Optional<TestCluster> cluster = Optional.empty();

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = Optional.of(TestCluster.inMemory(folder, server));
    }

    @AfterAll
    void stop() {
        cluster.orElseThrow().close();
    }

    @Override
    TestCluster cluster() {
        return cluster.orElseThrow();
    }

    @Test
    void aRenewalIsOneRequest() {
        try (Leadership leadership = new Leadership(
                cluster().access(), "pod-1", () -> {}, new Clocks(System::nanoTime, InstantSource.system()))) {
            leadership.attempt();
            long before = server.requests();
            for (int renewals = 0; renewals < 5; renewals++) {
                leadership.attempt();
            }
            assertEquals(5, server.requests() - before);
        }
    }

    @Test
    void aRequestThatFailsEndsNothing() {
        AtomicInteger lost = new AtomicInteger();
        try (Leadership leadership = new Leadership(
                cluster().access(),
                "pod-1",
                lost::incrementAndGet,
                new Clocks(System::nanoTime, InstantSource.system()))) {
            server.refuse(_ -> OptionalInt.of(500));
            leadership.attempt();
            assertEquals("", leadership.lease());
            server.refuse(_ -> OptionalInt.empty());
            leadership.attempt();
            String lease = leadership.lease();
            server.refuse(_ -> OptionalInt.of(503));
            leadership.attempt();
            leadership.look();
            server.refuse(_ -> OptionalInt.empty());
            leadership.attempt();
            assertEquals(lease, leadership.lease());
            assertEquals(0, lost.get());
        }
    }
}
