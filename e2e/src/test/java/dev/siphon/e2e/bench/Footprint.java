package dev.siphon.e2e.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Lab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// Measures how soon a process of the driver answers after exec, and its memory after a thousand RPCs. Prints one
/// JSON line per process and per bound; exits 1 if a bound is missed.
public final class Footprint {
    private static final int STARTS = 7;
    private static final int LOADS = 3;
    private static final int CALLERS = 8;
    private static final int CONTROLLER_VOLUMES = 334;
    private static final int NODE_VOLUMES = 20;
    private static final int STATS_PER_VOLUME = 46;
    private static final double FIRST_RPC_MS = 600;
    private static final double CONTROLLER_MB = 256;
    private static final double NODE_MB = 160;
    private static final double MB = 1e6;
    private static final Duration START_LIMIT = Duration.ofSeconds(20);

    private final Bounds bounds = new Bounds(System.out);
    private final Names names = new Names();

    /// Runs in a lab, with the built launcher.
    public static void main(String[] arguments) {
        System.exit(new Footprint().run() ? 0 : 1);
    }

    private boolean run() {
        try (DriverFolder folder = DriverFolder.create()) {
            measure(
                    "controller",
                    folder::startController,
                    controller -> thousandOfController(controller),
                    CONTROLLER_MB);
            try (ServedProcess controller = folder.controller()) {
                measure(
                        "node",
                        () -> folder.startNode("node"),
                        node -> thousandOfNode(folder, controller, node),
                        NODE_MB);
            }
        }
        return bounds.allMet();
    }

    private void measure(String name, Supplier<ServedProcess> start, Consumer<ServedProcess> load, double mostMb) {
        // the first start only warms up this JVM's client and the page cache
        firstRpcMillis(start);
        List<Double> first = new ArrayList<>();
        for (int i = 0; i < STARTS; i++) {
            first.add(firstRpcMillis(start));
        }
        List<Double> resident = new ArrayList<>();
        for (int i = 0; i < LOADS; i++) {
            try (ServedProcess process = start.get().awaitReady()) {
                load.accept(process);
                resident.add(process.residentBytes() / MB);
            }
        }
        JsonObject line = new JsonObject();
        line.addProperty("process", name);
        line.add("first_rpc_ms", array(first));
        line.add("resident_mb_after_1000_rpcs", array(resident));
        System.out.println(line);
        bounds.atMost(name + ": first RPC after exec, ms", Timings.median(first), FIRST_RPC_MS);
        bounds.atMost(name + ": resident memory after 1000 RPCs, MB", Timings.median(resident), mostMb);
    }

    private static double firstRpcMillis(Supplier<ServedProcess> start) {
        long exec = System.nanoTime();
        try (ServedProcess process = start.get()) {
            Path socket = process.endpoint().path();
            Await.until("an RPC is answered", START_LIMIT, () -> Files.exists(socket) && answers(process));
            return (System.nanoTime() - exec) / 1e6;
        }
    }

    private static boolean answers(ServedProcess process) {
        try (CsiClient client = CsiClient.to(process.endpoint())) {
            return Outcome.of(() -> client.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance()))
                    .ok();
        }
    }

    private void thousandOfController(ServedProcess process) {
        List<String> volumes = names.take(CONTROLLER_VOLUMES);
        try (CsiClient client = CsiClient.to(process.endpoint())) {
            List<String> ids = new ArrayList<>();
            Load.run(CALLERS, volumes.size(), index -> {
                String id = create(client, volumes.get(index)).getVolumeId();
                synchronized (ids) {
                    return ids.add(id);
                }
            });
            Load.run(
                    CALLERS,
                    ids.size(),
                    index -> client.controller()
                            .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                                    .setVolumeId(ids.get(index))
                                    .build())
                            .hasVolume());
            Load.run(CALLERS, ids.size(), index -> {
                var _ = client.controller().deleteVolume(Requests.delete(ids.get(index)));
                return true;
            });
        }
    }

    private void thousandOfNode(DriverFolder folder, ServedProcess controller, ServedProcess process) {
        try (CsiClient toController = CsiClient.to(controller.endpoint());
                CsiClient toNode = CsiClient.to(process.endpoint())) {
            List<Volume> volumes = names.take(NODE_VOLUMES).stream()
                    .map(name -> create(toController, name))
                    .toList();
            try (NodeMounts mounts =
                    new NodeMounts(toNode, folder.file("kubelet"), Lab.here().nodeStageSecrets())) {
                for (Volume volume : volumes) {
                    Path mounted = mounts.mount(volume);
                    IntStream.range(0, STATS_PER_VOLUME).forEach(_ -> {
                        var _ = toNode.node()
                                .nodeGetVolumeStats(NodeGetVolumeStatsRequest.newBuilder()
                                        .setVolumeId(volume.getVolumeId())
                                        .setVolumePath(mounted.toString())
                                        .build());
                    });
                }
            }
            volumes.forEach(volume -> {
                var _ = toController.controller().deleteVolume(Requests.delete(volume.getVolumeId()));
            });
        }
    }

    private static Volume create(CsiClient client, String name) {
        return client.controller()
                .createVolume(Requests.volume(name, "u1", Requests.GIB))
                .getVolume();
    }

    private static JsonArray array(List<Double> values) {
        JsonArray array = new JsonArray();
        values.forEach(value -> array.add(Timings.rounded(value)));
        return array;
    }
}
