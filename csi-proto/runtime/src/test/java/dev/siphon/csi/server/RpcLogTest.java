package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import dev.siphon.csi.DriverException;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RpcLogTest {
    private static final CreateVolumeRequest REQUEST = CreateVolumeRequest.newBuilder()
            .setName("pvc-1")
            .putParameters("owner", "u1")
            .putSecrets("key", "AQB1secret")
            .build();

    @TempDir
    private Path dir;

    @Test
    void oneLineNamesMethodVolumeCodeAndTime() {
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> CreateVolumeResponse.getDefaultInstance())) {
            server.stub().createVolume(REQUEST);
            JsonObject line = log.lines("rpc").getFirst();
            assertEquals(1, log.lines("rpc").size());
            assertEquals("CreateVolume", line.get("method").getAsString());
            assertEquals("pvc-1", line.get("name").getAsString());
            assertEquals("OK", line.get("code").getAsString());
            assertEquals("INFO", line.get("level").getAsString());
            assertTrue(line.get("duration_ms").getAsLong() >= 0);
            assertFalse(line.has("error"));
        }
    }

    @Test
    void anErrorIsOnTheSameLine() {
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> {
                    throw new DriverException.InUse("volume is used");
                })) {
            assertThrows(StatusRuntimeException.class, () -> server.stub().createVolume(REQUEST));
            JsonObject line = log.lines("rpc").getFirst();
            assertEquals("FAILED_PRECONDITION", line.get("code").getAsString());
            assertEquals("volume is used", line.get("error").getAsString());
        }
    }

    @Test
    void noSecretIsEverLogged() {
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> CreateVolumeResponse.getDefaultInstance())) {
            server.stub().createVolume(REQUEST);
            assertEquals(
                    "u1",
                    log.lines("request")
                            .getFirst()
                            .getAsJsonObject("request")
                            .getAsJsonObject("parameters")
                            .get("owner")
                            .getAsString());
            assertFalse(log.lines().toString().contains("AQB1"), log.lines().toString());
        }
    }

    @Test
    void aNameWithoutEndIsCut() {
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> CreateVolumeResponse.getDefaultInstance())) {
            server.stub()
                    .createVolume(CreateVolumeRequest.newBuilder()
                            .setName("x".repeat(100_000))
                            .build());
            assertEquals(
                    256, log.lines("rpc").getFirst().get("name").getAsString().length());
        }
    }

    @Test
    void aCallerThatHasGoneIsSaidSo() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> {
                    begun.countDown();
                    Eventually.open(gone);
                    Eventually.is(Deadlines::callerGone);
                    return CreateVolumeResponse.getDefaultInstance();
                })) {
            var call = server.futureStub().createVolume(REQUEST);
            begun.await();
            assertTrue(call.cancel(true));
            gone.countDown();
            Eventually.is(() -> !log.lines("rpc").isEmpty());
            server.drain(Duration.ofSeconds(10));
            assertEquals(1, log.lines("rpc").size());
            assertEquals("CANCELLED", log.lines("rpc").getFirst().get("code").getAsString());
        }
    }

    @Test
    void aPassedDeadlineIsToldApartFromACallerThatLeft() {
        try (RecordedLog log = RecordedLog.of(RpcLog.class);
                TestServer server = start(_ -> {
                    Eventually.is(Deadlines::callerGone);
                    return CreateVolumeResponse.getDefaultInstance();
                })) {
            // long enough for the request to arrive on a busy machine
            assertThrows(
                    StatusRuntimeException.class,
                    () -> server.stub().withDeadlineAfter(2, TimeUnit.SECONDS).createVolume(REQUEST));
            Eventually.is(() -> !log.lines("rpc").isEmpty());
            assertEquals(
                    "DEADLINE_EXCEEDED", log.lines("rpc").getFirst().get("code").getAsString());
        }
    }

    private TestServer start(Function<CreateVolumeRequest, CreateVolumeResponse> handler) {
        return TestServer.start(dir.resolve("s"), List.of(new RpcLog(), new ErrorMapping()), handler);
    }
}
