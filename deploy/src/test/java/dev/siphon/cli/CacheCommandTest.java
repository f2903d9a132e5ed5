package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Timestamp;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import io.grpc.stub.StreamObserver;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import siphon.node.v1.CacheGrpc;
import siphon.node.v1.EvictRequest;
import siphon.node.v1.EvictResponse;
import siphon.node.v1.ListRequest;
import siphon.node.v1.ListResponse;
import siphon.node.v1.PinRequest;
import siphon.node.v1.PinResponse;
import siphon.node.v1.Replica;
import siphon.node.v1.WarmProgress;
import siphon.node.v1.WarmRequest;

/// Runs `siphon cache` against a fake node.
final class CacheCommandTest {
    private static final String ONE = "0123456789abcdef".repeat(4);
    private static final String TWO = "f".repeat(64);
    private static final Replica WHOLE = Replica.newBuilder()
            .setDigest(ONE)
            .setState(Replica.State.LOCAL)
            .setBytes(3L << 29)
            .setPercent(100)
            .setCacheDirectory("/mnt/nvme0/siphon")
            .setAttachment(Replica.Attachment.FROM_REPLICA)
            .setPinned(true)
            .setLastUse(Timestamp.newBuilder().setSeconds(1_700_000_000))
            .build();
    private static final Replica BARE = Replica.newBuilder()
            .setDigest(TWO)
            .setState(Replica.State.REMOTE)
            .setAttachment(Replica.Attachment.FROM_CEPHFS)
            .setProblem("no room")
            .build();

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<String> asked = new ArrayList<>();
    private final List<UnixSocketServer> servers = new ArrayList<>();

    @TempDir
    private Path dir;

    @BeforeEach
    void serve() {
        servers.add(UnixSocketServer.startForRoot(
                new UnixEndpoint(dir.resolve("s")), List.of(new Node().bindService()), List.of(new ErrorMapping())));
    }

    @AfterEach
    void stop() {
        servers.forEach(UnixSocketServer::close);
    }

    private final class Node extends CacheGrpc.CacheImplBase {
        @Override
        public void list(ListRequest request, StreamObserver<ListResponse> observer) {
            UnaryCall.reply(
                    observer,
                    () -> ListResponse.newBuilder()
                            .addReplicas(WHOLE)
                            .addReplicas(BARE)
                            .addCacheProblems("the cache directory /mnt/nvme1/siphon fails")
                            .build());
        }

        @Override
        public void warm(WarmRequest request, StreamObserver<WarmProgress> observer) {
            Replica.Builder filling = WHOLE.toBuilder().setState(Replica.State.FILLING);
            observer.onNext(progress(filling.setPercent(40).build()));
            if (request.getDataset().equals(TWO)) {
                throw new DriverException.QuotaExhausted("it does not fit");
            }
            observer.onNext(progress(WHOLE));
            observer.onCompleted();
        }

        @Override
        public void evict(EvictRequest request, StreamObserver<EvictResponse> observer) {
            UnaryCall.reply(observer, () -> {
                if (request.getDataset().equals(ONE)) {
                    throw new DriverException.InUse("it is pinned; unpin it first");
                }
                return EvictResponse.newBuilder().setDigest(TWO).build();
            });
        }

        @Override
        public void pin(PinRequest request, StreamObserver<PinResponse> observer) {
            asked.add(request.getDataset() + " " + request.getPinned());
            UnaryCall.reply(
                    observer, () -> PinResponse.newBuilder().setDigest(ONE).build());
        }
    }

    private static WarmProgress progress(Replica replica) {
        return WarmProgress.newBuilder().setReplica(replica).build();
    }

    @Test
    void peopleGetATable() {
        assertEquals(0, cache("list"));
        List<String> lines = out.toString().lines().toList();
        assertEquals(
                List.of(
                        "DATASET       STATE   SIZE     PERCENT  WHERE              ATTACHED  PINNED  LAST_USE"
                                + "              PROBLEM",
                        "0123456789ab  local   1.5 GiB  100      /mnt/nvme0/siphon  replica   yes     2023-11-14T22:13:20Z"
                                + "  -",
                        "ffffffffffff  remote  0 B      0        -                  cephfs    no      -"
                                + "                     no room"),
                lines);
        assertEquals(
                "siphon: the cache directory /mnt/nvme1/siphon fails",
                err.toString().strip());
    }

    @Test
    void scriptsGetWholeDigestsAndBytes() {
        assertEquals(0, cache("list", "--json"));
        JsonObject first = JsonParser.parseString(
                        out.toString().lines().findFirst().orElseThrow())
                .getAsJsonObject();
        assertEquals(ONE, first.get("dataset").getAsString());
        assertEquals(3L << 29, first.get("size").getAsLong());
        assertEquals("", first.get("problem").getAsString());
        assertEquals(2, out.toString().lines().count());
    }

    @Test
    void warmSaysHowFarItIs() {
        assertEquals(0, cache("warm", ONE));
        assertEquals(
                List.of(
                        "0123456789ab 40% of 1.5 GiB in /mnt/nvme0/siphon",
                        "0123456789ab is complete: 1.5 GiB in /mnt/nvme0/siphon"),
                out.toString().lines().toList());
    }

    @Test
    void aTerminalHasOneLineThatChanges() {
        WarmupProgressLines lines = new WarmupProgressLines(new PrintWriter(out), true);
        lines.show(WHOLE);
        lines.show(WHOLE);
        lines.end();
        lines.end();
        String line = "\r0123456789ab is complete: 1.5 GiB in /mnt/nvme0/siphon\u001b[K";
        assertEquals(line + line + System.lineSeparator(), out.toString());
    }

    @Test
    void whatFailsIsSaidWithItsCode() {
        assertEquals(1, cache("warm", TWO));
        assertEquals("RESOURCE_EXHAUSTED: it does not fit", err.toString().strip());
        assertEquals(1, cache("evict", ONE));
        assertTrue(err.toString().contains("FAILED_PRECONDITION: it is pinned; unpin it first"), err.toString());
    }

    @Test
    void changesSayWhichDatasetWasMeant() {
        assertEquals(0, cache("evict", "ffffffff"));
        assertEquals(
                "dataset " + TWO + " is on no disk of this node", out.toString().strip());
        assertEquals(0, cache("pin", "01234567"));
        assertEquals(0, cache("unpin", "01234567"));
        assertEquals(List.of("01234567 true", "01234567 false"), asked);
        assertTrue(out.toString().contains("dataset " + ONE + " is not pinned"), out.toString());
    }

    @Test
    void noNodeIsAnErrorThatSaysWhatToLookAt() {
        servers.forEach(UnixSocketServer::close);
        assertEquals(1, cache("list"));
        assertTrue(err.toString().startsWith("UNAVAILABLE: "), err.toString());
        assertTrue(err.toString().contains("is the node's process running"), err.toString());
    }

    @Test
    void wrongUsageIsExitTwo() {
        assertEquals(2, cache());
        assertEquals(2, cache("evict"));
        assertEquals(2, cache("warm", "--timeout", "0", ONE));
        assertEquals(2, cache("list", "--socket", "not/absolute"));
    }

    private int cache(String... args) {
        List<String> all = new ArrayList<>(List.of("cache"));
        all.addAll(List.of(args));
        if (args.length > 0 && !List.of(args).contains("--socket")) {
            all.addAll(List.of("--socket", dir.resolve("s").toString()));
        }
        CommandLine commandLine =
                SiphonMain.commandLine(all).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return commandLine.execute(all.toArray(String[]::new));
    }
}
