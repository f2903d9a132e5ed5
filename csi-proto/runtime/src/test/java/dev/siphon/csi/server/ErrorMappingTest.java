package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import dev.siphon.csi.DriverException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ErrorMappingTest {
    private static final CreateVolumeRequest REQUEST = CreateVolumeRequest.getDefaultInstance();

    @TempDir
    private Path dir;

    @Test
    void aDriverErrorBecomesItsStatusAndIsNoBug() {
        try (RecordedLog log = RecordedLog.of(ErrorMapping.class)) {
            Status status = statusOf(() -> {
                throw new DriverException.NotFound("volume x does not exist");
            });
            assertEquals(Status.Code.NOT_FOUND, status.getCode());
            assertEquals("volume x does not exist", status.getDescription());
            assertEquals(List.of(), log.lines());
        }
    }

    @Test
    void aStatusPasses() {
        Status status = statusOf(() -> {
            throw Status.DATA_LOSS.withDescription("as it was").asRuntimeException();
        });
        assertEquals(Status.Code.DATA_LOSS, status.getCode());
        assertEquals("as it was", status.getDescription());
    }

    @Test
    void aBugIsInternalTellsNothingAndIsLoggedOnce() {
        assertBug(() -> {
            throw new IllegalStateException("key AQB1 of pool 7");
        });
    }

    @Test
    void anErrorOfTheMachineIsABugToo() {
        assertBug(() -> {
            throw new UnsatisfiedLinkError("key AQB1 of pool 7");
        });
    }

    @Test
    void aMissingAnswerIsABug() {
        try (RecordedLog log = RecordedLog.of(ErrorMapping.class)) {
            Status status = statusOf(() -> Objects.requireNonNull(CreateVolumeResponse.class.cast(null)));
            assertEquals(Status.Code.INTERNAL, status.getCode());
            assertEquals(1, log.lines().size());
        }
    }

    @Test
    void aBugAfterTheCallerHasGoneIsStillLogged() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        CountDownLatch thrown = new CountDownLatch(1);
        try (RecordedLog log = RecordedLog.of(ErrorMapping.class);
                TestServer server = TestServer.start(dir.resolve("s"), List.of(new ErrorMapping()), _ -> {
                    begun.countDown();
                    Eventually.open(gone);
                    thrown.countDown();
                    throw new IllegalStateException("late");
                })) {
            var call = server.futureStub().createVolume(REQUEST);
            begun.await();
            assertTrue(call.cancel(true));
            gone.countDown();
            thrown.await();
            server.drain(java.time.Duration.ofSeconds(10));
            Eventually.is(() -> log.lines().size() == 1);
        }
    }

    private void assertBug(Supplier<CreateVolumeResponse> handler) {
        try (RecordedLog log = RecordedLog.of(ErrorMapping.class)) {
            Status status = statusOf(handler);
            assertEquals(Status.Code.INTERNAL, status.getCode());
            String description = Objects.requireNonNull(status.getDescription());
            assertFalse(description.contains("AQB1"), description);
            JsonObject line = log.lines().getFirst();
            assertEquals(1, log.lines().size());
            assertTrue(description.contains(line.get("incident").getAsString()), description);
            assertEquals("csi.v1.Controller/CreateVolume", line.get("method").getAsString());
            assertTrue(line.get("stack").getAsString().contains("ErrorMappingTest"));
        }
    }

    private Status statusOf(Supplier<CreateVolumeResponse> handler) {
        try (TestServer server = TestServer.start(dir.resolve("s"), List.of(new ErrorMapping()), _ -> handler.get())) {
            return assertThrows(
                            StatusRuntimeException.class, () -> server.stub().createVolume(REQUEST))
                    .getStatus();
        }
    }
}
