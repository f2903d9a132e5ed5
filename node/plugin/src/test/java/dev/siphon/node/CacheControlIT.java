package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.SocketHttp;
import dev.siphon.csi.server.SocketHttp.Answer;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.ErofsSelection;
import dev.siphon.node.replica.GpuProximity;
import dev.siphon.node.replica.ReplicaPlacement;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.ReplicaSettings;
import dev.siphon.node.replica.Replicas;
import dev.siphon.node.replica.TestDataset;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import siphon.node.v1.CacheGrpc;
import siphon.node.v1.EvictRequest;
import siphon.node.v1.EvictResponse;
import siphon.node.v1.ListRequest;
import siphon.node.v1.PinRequest;
import siphon.node.v1.PinResponse;
import siphon.node.v1.Replica;
import siphon.node.v1.WarmProgress;
import siphon.node.v1.WarmRequest;

/// Manages a node's replicas over its control socket and over HTTP, on real loop devices and real EROFS, without
/// Ceph. The image is on a local disk. An earlier run attached and mounted it, and the started node finds it.
class CacheControlIT {
    /// Reports whether a unix socket sends a byte after connect: an HTTP/2 server sends first.
    private static final String KNOCK = """
            import java.net.*;
            import java.nio.*;
            import java.nio.channels.*;
            import java.nio.file.*;

            class Knock {
                public static void main(String[] arguments) throws Exception {
                    try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(Path.of(arguments[0])))) {
                        channel.write(ByteBuffer.wrap("PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n".getBytes()));
                        // an empty frame SETTINGS, with which every client goes on
                        channel.write(ByteBuffer.wrap(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0}));
                        System.out.println(channel.read(ByteBuffer.allocate(1)) == 1 ? "answered" : "hung up");
                    } catch (java.io.IOException e) {
                        System.out.println(String.valueOf(e.getMessage()).contains("Permission") ? "denied" : "hung up");
                    }
                }
            }
            """;

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 200, 200_000);
    private final Path cache = workplace.path("cache");
    private final Path state = workplace.directory("node/state");
    private final Path socket = state.resolve("control.sock");
    private final List<UnixSocketChannel> channels = new ArrayList<>();
    private NodeProcess node = start();

    /// A volume shows the image, so a starting node keeps it.
    private NodeProcess start() {
        if (!Files.exists(workplace.path("volume"))) {
            Path trees = state.resolve("datasets");
            try (Replicas before = Replicas.start(
                    new ReplicaSettings(
                            trees,
                            List.of(),
                            ReplicaPlacement.mostFree(),
                            ReplicaPolicy.usual(),
                            GpuProximity.UNKNOWN,
                            ErofsSelection.ofThisNode()),
                    new BackgroundTasks(),
                    _ -> {})) {
                String tree = before.attach(dataset.image()).tree().toString();
                Programs.run(
                        "mount", "--bind", tree, workplace.directory("volume").toString());
            }
        }
        return NodeProcess.start(workplace.path("node"), "--cache-dir=" + cache + "=1Gi");
    }

    @AfterEach
    void leaveNothing() {
        channels.forEach(UnixSocketChannel::close);
        node.close();
        workplace.close();
    }

    private CacheGrpc.CacheBlockingStub control() {
        UnixSocketChannel channel = UnixSocketChannel.open(new UnixEndpoint(socket));
        channels.add(channel);
        return CacheGrpc.newBlockingStub(channel.channel()).withWaitForReady().withDeadlineAfter(60, TimeUnit.SECONDS);
    }

    private Replica only() {
        List<Replica> all = control().list(ListRequest.getDefaultInstance()).getReplicasList();
        assertEquals(1, all.size(), all.toString());
        return all.getFirst();
    }

    private List<Replica> warm(String name) {
        List<Replica> told = new ArrayList<>();
        control()
                .warm(WarmRequest.newBuilder().setDataset(name).build())
                .forEachRemaining((WarmProgress progress) -> told.add(progress.getReplica()));
        return told;
    }

    private EvictResponse evict(String name) {
        return control().evict(EvictRequest.newBuilder().setDataset(name).build());
    }

    private PinResponse pin(String name, boolean pinned) {
        return control()
                .pin(PinRequest.newBuilder().setDataset(name).setPinned(pinned).build());
    }

    private void awaitReadFrom(Replica.Attachment source) {
        OpsPages.await(() -> only().getAttachment() == source);
    }

    @Test
    void aReplicaIsWarmedPinnedAndEvicted() {
        String digest = dataset.digest().hex();
        String name = digest.substring(0, 8);
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        assertEquals(Replica.State.LOCAL, only().getState());
        assertEquals(cache.toString(), only().getCacheDirectory());
        assertEquals(dataset.manifest().imageBytes(), only().getBytes());
        // everything is present: one reply
        assertEquals(
                List.of(Replica.State.LOCAL),
                warm(name).stream().map(Replica::getState).toList());

        assertEquals(digest, pin(name, true).getDigest());
        assertTrue(only().getPinned());
        String said = refused(Code.FAILED_PRECONDITION, () -> evict(name));
        assertTrue(said.contains(digest) && said.contains("unpin"), said);
        assertEquals(digest, pin(name, false).getDigest());
        assertEquals(digest, evict(name).getDigest());
        assertEquals(Replica.State.REMOTE, only().getState());
        assertEquals(Replica.Attachment.FROM_CEPHFS, only().getAttachment());
        evict(name); // again
        refused(Code.NOT_FOUND, () -> pin(name, true));

        List<Replica> told = warm(name);
        assertTrue(told.size() > 1, told.toString());
        assertNotEquals(Replica.State.LOCAL, told.getFirst().getState());
        assertEquals(Replica.State.LOCAL, told.getLast().getState());
        assertTrue(dataset.isRight(workplace.path("volume")));
        assertMetrics();
    }

    private void assertMetrics() {
        long bytes = dataset.manifest().imageBytes();
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        try (OpsPages pages = new OpsPages(node)) {
            assertEquals(2.0 * bytes, Double.parseDouble(pages.metric("siphon_replica_filled_bytes_total")));
            assertEquals("2.0", pages.metric("siphon_replica_fills_total{result=\"done\"}"));
            assertEquals("0.0", pages.metric("siphon_replica_fills_total{result=\"failed\"}"));
            assertEquals("2.0", pages.metric("siphon_replica_swaps_total{to=\"local\"}"));
            assertEquals("1.0", pages.metric("siphon_replica_swaps_total{to=\"remote\"}"));
            assertEquals("1.0", pages.metric("siphon_replica_evictions_total"));
            assertEquals("1.0", pages.metric("siphon_replicas{state=\"local\"}"));
            assertEquals("0.0", pages.metric("siphon_replicas{state=\"filling\"}"));
            assertEquals("0.0", pages.metric("siphon_replicas{state=\"failed\"}"));
            String read = pages.metric("siphon_dataset_read_bytes_total{source=\"local\"}");
            assertTrue(Double.parseDouble(read) > 0, "from the replica");
            assertEquals(
                    (double) bytes,
                    Double.parseDouble(pages.metric("siphon_cache_used_bytes{directory=\"" + cache + "\"}")));
            assertEquals("1.0", pages.metric("siphon_dataset_attachments{source=\"local\"}"));
            assertEquals("0.0", pages.metric("siphon_dataset_attachments{source=\"remote\"}"));
            assertEquals(
                    (double) ((1L << 30) - bytes),
                    Double.parseDouble(pages.metric("siphon_cache_free_bytes{directory=\"" + cache + "\"}")));
        }
    }

    private JsonObject told(int status, String method, String target) {
        Path http = state.resolve("http.sock");
        OpsPages.await(() -> Files.exists(http)); // created after the others
        Answer answer = SocketHttp.ask(http, method, target);
        assertEquals(status, answer.status(), answer.body());
        return answer.json();
    }

    private static JsonObject replica(JsonObject dataset) {
        assertEquals(1, dataset.getAsJsonArray("replicas").size(), dataset.toString());
        return dataset.getAsJsonArray("replicas").get(0).getAsJsonObject();
    }

    @Test
    void programsAskByHttpWhetherADatasetIsThereAndHaveItWarmed() {
        String digest = dataset.digest().hex();
        String name = "/v1/datasets/" + digest.substring(0, 8);
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        JsonObject there = told(200, "GET", name);
        assertTrue(there.get("ready").getAsBoolean(), there.toString());
        assertEquals(digest, there.get("digest").getAsString());
        JsonObject replica = replica(there);
        assertEquals("local", replica.get("state").getAsString());
        assertEquals(cache.toString(), replica.get("cacheDirectory").getAsString());
        assertEquals(dataset.manifest().imageBytes(), replica.get("bytes").getAsLong());
        assertEquals("replica", replica.get("readFrom").getAsString());

        evict(digest);
        JsonObject gone = told(200, "GET", name);
        assertFalse(gone.get("ready").getAsBoolean(), gone.toString());
        assertEquals("cephfs", replica(gone).get("readFrom").getAsString());
        // without `wait` the fill only starts; repeated requests report its progress
        assertFalse(told(202, "POST", name + "/warm").get("ready").getAsBoolean());
        JsonObject warm = told(200, "POST", name + "/warm?wait=60");
        assertTrue(warm.get("ready").getAsBoolean(), warm.toString());
        JsonObject all = told(200, "GET", "/v1/datasets");
        assertEquals(warm, all.getAsJsonArray("datasets").get(0));
        assertEquals(1, all.getAsJsonArray("datasets").size());
    }

    @Test
    void whatProgramsCannotHaveByHttpIsSaid() {
        assertEquals("NOT_FOUND", told(404, "GET", "/").get("code").getAsString());
        told(404, "GET", "/v1/datasets/" + "0".repeat(64));
        String said =
                told(404, "GET", "/v1/datasets/u1/imagenet-v1").get("message").getAsString();
        assertTrue(said.contains("u1.imagenet-v1") && said.contains("DatasetWarmup"), said);
        told(400, "DELETE", "/v1/datasets");
        told(400, "GET", "/v1/datasets/u1/imagenet-v1/warm");
        told(400, "POST", "/v1/datasets/" + dataset.digest().hex() + "/warm?wait=601");
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        node.close();
        node = NodeProcess.start(workplace.path("node"), "--cache-dir=" + workplace.path("small") + "=1Mi");
        OpsPages.await(() -> !only().getProblem().isEmpty());
        JsonObject full = told(507, "POST", "/v1/datasets/" + dataset.digest().hex() + "/warm?wait=60");
        assertEquals("RESOURCE_EXHAUSTED", full.get("code").getAsString());
        assertTrue(replica(told(200, "GET", "/v1/datasets/" + dataset.digest().hex()))
                .has("problem"));
    }

    @Test
    void whatCannotBeDoneIsSaid() {
        refused(Code.INVALID_ARGUMENT, () -> warm("0123"));
        refused(Code.NOT_FOUND, () -> warm("0".repeat(64)));
        refused(Code.NOT_FOUND, () -> evict("0".repeat(64)));
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        node.close();
        node = NodeProcess.start(workplace.path("node")); // without a cache directory
        // this run does not know the file that it is read from, which is as good as the image
        awaitReadFrom(Replica.Attachment.FROM_CEPHFS);
        String said =
                refused(Code.FAILED_PRECONDITION, () -> warm(dataset.digest().hex()));
        assertTrue(said.contains("--cache-dir"), said);
    }

    @Test
    void aReplicaThatNobodyHasAttachedIsCheckedAndNotMadeAnew() {
        String digest = dataset.digest().hex();
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        node.close();
        Programs.run("umount", workplace.path("volume").toString());
        node = start(); // it removes the tree that no volume shows
        OpsPages.await(() -> only().getAttachment() == Replica.Attachment.NONE);
        node.close();
        node = start(); // this run does not know the image
        assertEquals(
                List.of(Replica.State.LOCAL),
                warm(digest).stream().map(Replica::getState).toList());
        node.close();
        TestDataset.flip(cache.resolve(digest).resolve("image"), 5_000_000);
        node = start();
        String said = refused(Code.FAILED_PRECONDITION, () -> warm(digest));
        assertTrue(said.contains("start a pod") && said.contains("is not what its manifest says"), said);
    }

    @Test
    void aDatasetThatFitsNowhereIsNotWarmed() {
        node.close();
        node = NodeProcess.start(workplace.path("node"), "--cache-dir=" + workplace.path("small") + "=1Mi");
        OpsPages.await(() -> !only().getProblem().isEmpty());
        String said =
                refused(Code.RESOURCE_EXHAUSTED, () -> warm(dataset.digest().beginning()));
        assertTrue(said.contains(dataset.digest().hex()), said);
        try (OpsPages pages = new OpsPages(node)) {
            assertTrue(Double.parseDouble(pages.metric("siphon_replica_fills_total{result=\"failed\"}")) >= 2);
        }
    }

    @Test
    void theSocketOutlivesAKilledNodeAndIsReplaced() {
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        node.kill();
        assertTrue(Files.exists(socket));
        assertTrue(dataset.isRight(workplace.path("volume")));
        node = start();
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        assertEquals(
                List.of(Replica.State.LOCAL),
                warm(dataset.digest().hex()).stream().map(Replica::getState).toList());
    }

    @Test
    void nobodyButRootIsAnswered() throws IOException {
        awaitReadFrom(Replica.Attachment.FROM_REPLICA);
        assertEquals("rwx------", modes(state));
        assertEquals("rw-------", modes(socket));
        assertEquals("rw-------", modes(state.resolve("http.sock")));
        Path program = Files.writeString(workplace.path("Knock.java"), KNOCK);
        Path root = workplace.directory(".");
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertEquals("denied", knock(65534, program));
        // even if somebody has opened every permission
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertEquals("answered", knock(0, program));
        assertEquals("hung up", knock(65534, program));
        assertTrue(node.log().contains("refused a connection"), node.log());
    }

    private static String modes(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private String knock(int uid, Path program) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Shell.Result result = Shell.run(uid, uid, socket, java + " -Xmx64m " + program + " \"$1\" 2>/dev/null");
        return result.said();
    }
}
