package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UnixSocketServerTest {
    private static final CreateVolumeRequest REQUEST = CreateVolumeRequest.getDefaultInstance();
    private static final CreateVolumeResponse RESPONSE = CreateVolumeResponse.newBuilder()
            .setVolume(Volume.newBuilder().setVolumeId("v"))
            .build();

    @TempDir
    private Path dir;

    @Test
    void answersOnASocketThatOnlyItsOwnerMayUse() throws Exception {
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> RESPONSE)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
            assertEquals(RESPONSE, server.stub().createVolume(REQUEST));
        }
        assertFalse(Files.exists(socket()));
    }

    @Test
    void eachCallHasAVirtualThreadOfItsOwn() {
        int callers = 50;
        CyclicBarrier allThere = new CyclicBarrier(callers);
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> {
            threads.add(Thread.currentThread());
            awaitAll(allThere);
            return RESPONSE;
        })) {
            List<ListenableFuture<CreateVolumeResponse>> calls = IntStream.range(0, callers)
                    .mapToObj(_ -> server.futureStub().createVolume(REQUEST))
                    .toList();
            for (ListenableFuture<CreateVolumeResponse> call : calls) {
                assertEquals(RESPONSE, answer(call));
            }
        }
        assertEquals(callers, threads.stream().distinct().count());
        assertTrue(threads.stream().allMatch(Thread::isVirtual));
    }

    @Test
    void aDrainWaitsForWhatIsUnderWay() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> {
            begun.countDown();
            Eventually.open(mayEnd);
            return RESPONSE;
        })) {
            ListenableFuture<CreateVolumeResponse> call = server.futureStub().createVolume(REQUEST);
            begun.await();
            Thread draining = Thread.ofVirtual().start(() -> assertTrue(server.drain(Duration.ofSeconds(30))));
            mayEnd.countDown();
            assertEquals(RESPONSE, answer(call));
            draining.join();
        }
        assertFalse(Files.exists(socket()));
    }

    @Test
    void aDrainBreaksOffWhatHangs() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> {
            begun.countDown();
            Eventually.open(never);
            return RESPONSE;
        })) {
            ListenableFuture<CreateVolumeResponse> call = server.futureStub().createVolume(REQUEST);
            begun.await();
            assertFalse(server.drain(Duration.ofMillis(100)));
            assertThrows(StatusRuntimeException.class, () -> answer(call));
            assertFalse(Files.exists(socket()));
        } finally {
            never.countDown();
        }
    }

    @Test
    void aRequestLargerThanCsiAllowsIsRefused() {
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> RESPONSE)) {
            CreateVolumeRequest large = CreateVolumeRequest.newBuilder()
                    .setName("x".repeat(2 << 20))
                    .build();
            Status status = assertThrows(
                            StatusRuntimeException.class, () -> server.stub().createVolume(large))
                    .getStatus();
            assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode());
            assertEquals(RESPONSE, server.stub().createVolume(REQUEST));
        }
    }

    @Test
    void aSecondServerOnTheSameSocketIsRefused() {
        try (TestServer server = TestServer.start(socket(), List.of(), _ -> RESPONSE)) {
            assertThrows(StartFailure.class, () -> TestServer.start(socket(), List.of(), _ -> RESPONSE));
            assertEquals(RESPONSE, server.stub().createVolume(REQUEST));
        }
    }

    private Path socket() {
        return dir.resolve("csi.sock");
    }

    static CreateVolumeResponse answer(ListenableFuture<CreateVolumeResponse> call) {
        try {
            return call.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StatusRuntimeException status) {
                throw status;
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitAll(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }
}
