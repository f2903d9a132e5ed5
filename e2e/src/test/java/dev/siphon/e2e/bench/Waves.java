package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.noop.NoopNode;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Creates and deletes claims and pods in Kubernetes in waves, with the classes of several drivers in turns.
@Command(
        name = "waves",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Times claims, pods and their ends in waves; runs in a lab with Kubernetes. One JSON line per"
                + " class and measure; exit 1 when one of them does not come about, or mounts are left.")
public final class Waves implements Callable<Integer> {
    private static final Duration REST_LIMIT = Duration.ofMinutes(1);

    @Option(names = "--kubeconfig", required = true, description = "Of an administrator.")
    private Path kubeconfig = Path.of("");

    @Option(names = "--classes", split = ",", required = true, description = "Storage classes, which take turns.")
    private List<String> classes = List.of();

    @Option(names = "--namespace", defaultValue = "u1", description = "Where claims and pods are made.")
    private String namespace = "";

    @Option(names = "--uid", defaultValue = "10001", description = "As whom the pods run.")
    private int uid;

    @Option(names = "--waves", defaultValue = "10", description = "Waves of each class, after one that is not counted.")
    private int waves;

    @Option(names = "--size", defaultValue = "20", description = "Claims and pods of a wave.")
    private int size;

    @Option(names = "--limit", defaultValue = "300", description = "Seconds that each step of a wave may take.")
    private int limitSeconds;

    /// The waves by class and measure.
    private final Map<String, Map<Milestone, List<Timings>>> all = new LinkedHashMap<>();

    /// Runs in a lab.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Waves()).execute(arguments));
    }

    @Override
    public Integer call() {
        try (KubernetesApi api = KubernetesApi.of(kubeconfig);
                CephTree tree = CephTree.mount(Lab.here())) {
            Milestones milestones = Milestones.of(api, namespace);
            Wave.Setting setting = new Wave.Setting(namespace, uid, Duration.ofSeconds(limitSeconds));
            for (int number = 0; number <= waves; number++) {
                // the first class alternates, because a machine may become slower or faster
                for (String each : number % 2 == 0 ? classes : classes.reversed()) {
                    Wave wave = new Wave(api, milestones, setting, each, names(each, number));
                    Map<Milestone, Timings> took = wave.run();
                    System.err.println(each + ", wave " + number + " of " + waves);
                    rest(tree);
                    if (number > 0) {
                        add(each, took);
                    }
                }
            }
        }
        classes.forEach(name -> all.getOrDefault(name, Map.of())
                .forEach((measure, parts) -> report(name, measure, Timings.together(parts))));
        return 0;
    }

    private List<String> names(String storageClass, int number) {
        return IntStream.range(0, size)
                .mapToObj(index -> storageClass + "-" + number + "-" + index)
                .toList();
    }

    private void add(String storageClass, Map<Milestone, Timings> took) {
        Map<Milestone, List<Timings>> measures = all.computeIfAbsent(storageClass, _ -> new LinkedHashMap<>());
        took.forEach((measure, timings) ->
                measures.computeIfAbsent(measure, _ -> new ArrayList<>()).add(timings));
    }

    /// Lets no wave pay for the one before: the kubelet unstages after the pods are gone, and Ceph purges removed
    /// volumes for seconds.
    private static void rest(CephTree tree) {
        Await.until(
                "nothing of a wave is mounted",
                REST_LIMIT,
                () -> MountTable.read().entries().stream().noneMatch(Waves::isOfVolume));
        tree.purge();
    }

    private static boolean isOfVolume(MountEntry entry) {
        return entry.mountPoint().startsWith("/var/lib/")
                && (entry.type().contains("ceph") || entry.source().equals(NoopNode.SOURCE));
    }

    private void report(String storageClass, Milestone measure, Timings timings) {
        JsonObject line = new JsonObject();
        line.addProperty("class", storageClass);
        line.addProperty("measure", measure.measure());
        line.addProperty("waves_of", size);
        line.addProperty("n", timings.sortedNanos().size());
        line.addProperty("p50_ms", Timings.rounded(timings.millis(0.5)));
        line.addProperty("p99_ms", Timings.rounded(timings.millis(0.99)));
        System.out.println(line);
    }
}
