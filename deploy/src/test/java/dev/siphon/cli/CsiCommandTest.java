package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class CsiCommandTest {
    private final BlockingQueue<CreateVolumeRequest> requests = new LinkedBlockingQueue<>();
    private final BlockingQueue<Duration> deadlines = new LinkedBlockingQueue<>();
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final InputStream stdin = System.in;
    private final List<UnixSocketServer> servers = new ArrayList<>();

    @TempDir
    private Path dir;

    @BeforeEach
    void serve() {
        ControllerGrpc.ControllerImplBase service = new ControllerGrpc.ControllerImplBase() {
            @Override
            public void createVolume(CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
                UnaryCall.reply(observer, () -> create(request));
            }
        };
        servers.add(UnixSocketServer.start(
                new UnixEndpoint(dir.resolve("s")), List.of(service.bindService()), List.of(new ErrorMapping())));
    }

    @AfterEach
    void stop() {
        System.setIn(stdin);
        servers.forEach(UnixSocketServer::close);
    }

    @Test
    void aResponseIsPrintedWithTheFieldNamesOfTheProto() {
        assertEquals(0, csi("CreateVolume", "{\"name\": \"a\", \"capacity_range\": {\"required_bytes\": 5}}"));
        JsonObject volume =
                JsonParser.parseString(out.toString()).getAsJsonObject().getAsJsonObject("volume");
        assertEquals("id of a", volume.get("volume_id").getAsString());
        assertEquals("5", volume.get("capacity_bytes").getAsString());
        assertEquals("", err.toString());
    }

    @Test
    void anErrorIsCodeAndMessageAndExitOne() {
        assertEquals(1, csi("CreateVolume"));
        assertEquals("INVALID_ARGUMENT: name is missing", err.toString().strip());
        assertEquals("", out.toString());
    }

    @Test
    void nobodyListeningIsAnErrorToo() {
        servers.forEach(UnixSocketServer::close);
        assertEquals(1, csi("CreateVolume"));
        assertTrue(err.toString().startsWith("UNAVAILABLE: "), err.toString());
    }

    @Test
    void secretsComeFromAFile() throws IOException {
        Path secrets = Files.writeString(dir.resolve("secrets"), "# of u1\nuserID: u1\nuserKey: 'AQB1=='\n");
        assertEquals(0, csi("--secrets-file", secrets.toString(), "CreateVolume", "{\"name\": \"a\"}"));
        CreateVolumeRequest request = requests.remove();
        assertEquals("u1", request.getSecretsOrThrow("userID"));
        assertEquals("AQB1==", request.getSecretsOrThrow("userKey"));
    }

    @Test
    void aRequestWithoutSecretsRefusesThem() throws IOException {
        Path secrets = Files.writeString(dir.resolve("secrets"), "{\"key\": \"AQB1\"}");
        assertEquals(2, csi("--secrets-file", secrets.toString(), "Probe"));
        assertTrue(err.toString().contains("ProbeRequest takes no secrets"), err.toString());
    }

    @Test
    void aRequestMayComeFromStdin() {
        System.setIn(new ByteArrayInputStream("{\"name\": \"from stdin\"}".getBytes(StandardCharsets.UTF_8)));
        assertEquals(0, csi("CreateVolume", "-"));
        assertEquals("from stdin", requests.remove().getName());
    }

    @Test
    void manyCallsOnOneConnectionGiveALineEach() {
        System.setIn(new ByteArrayInputStream(
                "CreateVolume {\"name\": \"a\"}\n\nCreateVolume\nProbe {}\n".getBytes(StandardCharsets.UTF_8)));
        assertEquals(1, csi("-"));
        List<String> lines = out.toString().lines().toList();
        assertEquals(3, lines.size(), out.toString());
        assertEquals("{\"volume\":{\"volume_id\":\"id of a\"}}", lines.get(0));
        assertEquals("{\"error\":\"INVALID_ARGUMENT: name is missing\"}", lines.get(1));
        assertTrue(lines.get(2).startsWith("{\"error\":\"UNIMPLEMENTED: "), lines.get(2));
    }

    @Test
    void theDeadlineCountsFromWhenTheConnectionStands() {
        Duration slow = Duration.ofSeconds(3);
        try (SlowSocket socket = SlowSocket.before(dir.resolve("s"), dir.resolve("slow"), slow)) {
            assertEquals(0, csi("--endpoint", "unix://" + socket.path(), "CreateVolume", "{\"name\": \"a\"}"));
        }
        Duration left = Objects.requireNonNull(deadlines.poll());
        assertTrue(left.compareTo(Duration.ofSeconds(10).minus(slow)) > 0, left + " of 10 s are left");
    }

    @Test
    void withoutAnRpcAllAreListed() {
        assertEquals(0, csi());
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("Node +NodeGetInfo +")), out.toString());
        assertTrue(out.toString().contains("capacity_range"));
        assertFalse(out.toString().contains("GetMetadataDelta"), "a stream cannot be called");
    }

    @Test
    void wrongUsageIsExitTwo() {
        assertEquals(2, csi("NoSuchCall"));
        assertTrue(err.toString().contains("there is no unary RPC NoSuchCall"), err.toString());
        assertEquals(2, csi("CreateVolume", "{\"nmae\": 1}"));
        assertTrue(err.toString().contains("the request does not fit CreateVolumeRequest"), err.toString());
        assertEquals(2, csi("--endpoint", "tcp://x", "Probe"));
        assertEquals(2, csi("--secrets-file", dir.resolve("none").toString(), "CreateVolume"));
        assertTrue(requests.isEmpty());
    }

    private CreateVolumeResponse create(CreateVolumeRequest request) {
        if (request.getName().isEmpty()) {
            throw new DriverException.InvalidRequest("name is missing");
        }
        requests.add(request);
        deadlines.add(Duration.ofNanos(
                Objects.requireNonNull(Context.current().getDeadline()).timeRemaining(TimeUnit.NANOSECONDS)));
        return CreateVolumeResponse.newBuilder()
                .setVolume(Volume.newBuilder()
                        .setVolumeId("id of " + request.getName())
                        .setCapacityBytes(request.getCapacityRange().getRequiredBytes()))
                .build();
    }

    private int csi(String... args) {
        List<String> all = new ArrayList<>(List.of("csi", "--timeout", "10"));
        if (!List.of(args).contains("--endpoint")) {
            all.addAll(List.of("--endpoint", "unix://" + dir.resolve("s")));
        }
        all.addAll(List.of(args));
        CommandLine commandLine =
                SiphonMain.commandLine(all).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return commandLine.execute(all.toArray(String[]::new));
    }
}
