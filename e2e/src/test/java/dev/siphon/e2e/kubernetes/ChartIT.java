package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonStreamParser;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The chart with the values of docs/reference/values.md, as the API server parses it in a dry run. The lab's
/// network does not enforce NetworkPolicies: these tests can only check their content.
@Tag("kubernetes")
@OnCluster
final class ChartIT {
    private static final Cluster CLUSTER = Cluster.here();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static String values;

    @SuppressWarnings("NullAway.Init")
    private static String chart;

    @SuppressWarnings("NullAway.Init")
    private static List<JsonObject> read;

    @BeforeAll
    static void render() throws IOException {
        values = exampleValues();
        chart = Chart.rendered("--namespace", "default", "--set", "attach=true", "-f", file("values.yaml", values));
        Command.Result said = readByServer(chart);
        assertEquals(0, said.exit(), said::output);
        read = objects(said.output());
    }

    private static String exampleValues() throws IOException {
        String text = Files.readString(Project.folder().resolve("docs/reference/values.md"));
        int begin = text.indexOf("# values of the chart\n");
        return text.substring(begin, text.indexOf("\n```", begin) + 1);
    }

    private static String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    private static Command.Result readByServer(String manifest) throws IOException {
        return CLUSTER.tryKubectl(
                "create", "--dry-run=server", "--validate=strict", "-o", "json", "-f", file("chart.yaml", manifest));
    }

    /// kubectl prints several objects one after the other, or one list.
    private static List<JsonObject> objects(String json) {
        List<JsonObject> all = new ArrayList<>();
        new JsonStreamParser(json).forEachRemaining(each -> all.add(each.getAsJsonObject()));
        return all.stream()
                .flatMap(each -> each.has("items") ? elements(each.getAsJsonArray("items")) : Stream.of(each))
                .toList();
    }

    private static Stream<JsonObject> ofKind(String kind) {
        return read.stream().filter(each -> kind.equals(each.get("kind").getAsString()));
    }

    private static JsonObject one(String kind) {
        return ofKind(kind).findFirst().orElseThrow();
    }

    private static JsonObject nodes() {
        return ofKind("DaemonSet")
                .filter(each -> name(each).equals("siphon-node"))
                .findFirst()
                .orElseThrow()
                .getAsJsonObject("spec");
    }

    private static String name(JsonObject object) {
        return object.getAsJsonObject("metadata").get("name").getAsString();
    }

    private static Stream<JsonObject> elements(JsonArray array) {
        return StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    private static Stream<JsonObject> ports(JsonArray rules) {
        return elements(rules).flatMap(rule -> elements(rule.getAsJsonArray("ports")));
    }

    @Test
    void theManifestsAreTheCharts() {
        Command.Result checked = Command.attempt(
                "env",
                "HELM=" + Chart.program("helm"),
                Project.folder().resolve("deploy/render").toString(),
                "--check");

        assertEquals(0, checked.exit(), checked::output);
    }

    @Test
    void theControllersPolicyAdmitsTheirOpsPort() {
        JsonObject policy = one("NetworkPolicy").getAsJsonObject("spec");

        assertEquals("[\"Ingress\",\"Egress\"]", policy.get("policyTypes").toString());
        assertEquals(
                List.of(9810),
                ports(policy.getAsJsonArray("ingress"))
                        .map(port -> port.get("port").getAsInt())
                        .toList());
    }

    @Test
    void aRangeOfPortsStaysOne() {
        assertEquals(
                List.of("6800-7568"),
                ports(one("NetworkPolicy").getAsJsonObject("spec").getAsJsonArray("egress"))
                        .filter(port -> port.has("endPort"))
                        .map(port -> port.get("port") + "-" + port.get("endPort"))
                        .toList());
    }

    @Test
    void classesOfAttributesHaveTheirParameters() {
        assertEquals(
                List.of("few-files {\"quotaFiles\":\"500\"}", "group-reads {\"mode\":\"0750\"}"),
                ofKind("VolumeAttributesClass")
                        .map(each -> name(each) + " " + each.get("parameters"))
                        .toList());
    }

    @Test
    void bothStorageClassesNameTheFileSystem() {
        assertEquals(
                List.of("siphon of cephfs", "siphon-home of cephfs"),
                ofKind("StorageClass")
                        .map(each -> name(each) + " of "
                                + each.getAsJsonObject("parameters")
                                        .get("fsName")
                                        .getAsString())
                        .toList());
    }

    @Test
    void nodesAreUpdatedAsTheValuesSay() {
        assertEquals(
                "OnDelete",
                nodes().getAsJsonObject("updateStrategy").get("type").getAsString());
    }

    @Test
    void nodesServeHttpsWithTheSecret() {
        JsonObject pod = nodes().getAsJsonObject("template").getAsJsonObject("spec");
        JsonObject container = pod.getAsJsonArray("containers").get(0).getAsJsonObject();

        assertEquals(
                List.of("9812"),
                elements(container.getAsJsonArray("env"))
                        .filter(each ->
                                "SIPHON_HTTP_PORT".equals(each.get("name").getAsString()))
                        .map(each -> each.get("value").getAsString())
                        .toList());
        assertEquals(
                List.of("siphon-http"),
                elements(pod.getAsJsonArray("volumes"))
                        .filter(each -> "http".equals(each.get("name").getAsString()))
                        .map(each ->
                                each.getAsJsonObject("secret").get("secretName").getAsString())
                        .toList());
    }

    @Test
    void httpsWithoutASecretIsRefused() throws IOException {
        String without = values.replace(", secretName: siphon-http", "");

        assertNotEquals(values, without);
        assertNotEquals(0, Chart.render("-f", file("no-secret.yaml", without)).exit());
    }

    @Test
    void aModeThatIsANumberIsRefused() throws IOException {
        String number = values.replace("'0750'", "0750");

        assertNotEquals(values, number);
        assertRefused("needs quotation marks", "-f", file("number.yaml", number));
    }

    @Test
    void aCacheDirectoryTwiceIsRefused() {
        assertRefused(
                "cacheDirectories has /a/b twice",
                "--set-json",
                "node.cacheDirectories=[{\"path\": \"/a/b\", \"size\": \"1Gi\"}, {\"path\": \"/a/b\", \"size\": \"1Gi\"}]");
    }

    @Test
    void fuseIsToldWhatAllMayHaveOnlyWhereTheValuesSay() {
        String usual = Chart.rendered("--show-only", "templates/fuse.yaml");
        String given = Chart.rendered("--show-only", "templates/fuse.yaml", "--set", "fuse.totalMemory=8Gi");

        assertEquals(
                usual.replace(
                        "            - --process-memory=1Gi\n",
                        "            - --process-memory=1Gi\n            - --total-memory=8Gi\n"),
                given);
        assertNotEquals(usual, given);
        assertRefused("totalMemory", "--set", "fuse.totalMemory=8");
    }

    /// The API server does not know the kinds of the Prometheus operator, so helm's output is parsed here.
    @Test
    void whatWatchesSiphonIsThereIfAskedFor() throws IOException {
        assertRefused("could not find template", "--show-only", "templates/monitoring.yaml");
        String all = Chart.rendered(
                "--show-only",
                "templates/monitoring.yaml",
                "--set",
                "monitoring.podMonitors=true,monitoring.rules=true,monitoring.dashboard=true",
                "--set",
                "node.http.port=9812,node.http.secretName=siphon-http");
        KubernetesSerialization yaml = new KubernetesSerialization();
        List<GenericKubernetesResource> objects = Stream.of(all.split("(?m)^---$", -1))
                .filter(document -> document.contains("kind:"))
                .map(document -> yaml.unmarshal(document, GenericKubernetesResource.class))
                .toList();
        assertEquals(
                List.of(
                        "ClusterRoleBinding siphon-scraper",
                        "ConfigMap siphon-dashboard",
                        "PodMonitor siphon-controllers",
                        "PodMonitor siphon-nodes",
                        "PrometheusRule siphon",
                        "Secret siphon-scraper",
                        "ServiceAccount siphon-scraper"),
                objects.stream()
                        .map(each -> each.getKind() + " " + each.getMetadata().getName())
                        .sorted()
                        .toList());
        String board = Files.readString(Project.folder().resolve("deploy/chart/files/dashboard.json"));
        assertEquals(
                List.of(board),
                objects.stream()
                        .<String>map(each -> each.get("data", "siphon.json"))
                        .filter(Objects::nonNull)
                        .toList());
        assertTrue(all.contains("alert: SiphonDown"), all);
    }

    @Test
    void aValueThatTheChartDoesNotHaveIsRefused() {
        assertRefused("'ownr' not allowed", "--set", "ownr=x");
    }

    private static void assertRefused(String why, String... options) {
        Command.Result result = Chart.render(options);

        assertNotEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains(why), result::output);
    }

    @Test
    void theServerTakesNoWordThatItDoesNotKnow() throws IOException {
        Command.Result said = readByServer(chart.replace("\"endPort\"", "\"lastPort\""));

        assertNotEquals(0, said.exit(), said::output);
        assertTrue(said.output().matches("(?s).*unknown field.*lastPort.*"), said::output);
    }

    /// With every option on, parsed by the sidecars themselves.
    @Test
    void eachSidecarTakesItsArguments() throws IOException {
        TreeSet<String> taken = new TreeSet<>();
        for (List<String> words : sidecars()) {
            String program = Chart.program(words.getFirst()).toString();
            Command.Result said = version(program, words.subList(1, words.size()));
            assertEquals(0, said.exit(), said::output);
            taken.add(words.getFirst());
        }
        assertEquals(
                new TreeSet<>(List.of("csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter")), taken);
    }

    /// Proves that the test above can fail.
    @Test
    void andNoneThatItDoesNotKnow() throws IOException {
        for (List<String> words : sidecars()) {
            String program = Chart.program(words.getFirst()).toString();
            Command.Result said = version(program, List.of("--no-such-flag"));
            assertNotEquals(0, said.exit(), () -> program + " takes anything");
        }
    }

    private static Command.Result version(String program, List<String> arguments) {
        return Command.attempt(Stream.of(List.of(program), arguments, List.of("--version"))
                .flatMap(List::stream)
                .toArray(String[]::new));
    }

    /// Returns the sidecars' names, each with its arguments.
    private static List<List<String>> sidecars() throws IOException {
        String controller = Chart.rendered(
                "--set", "snapshots=true", "--set", "attach=true", "--show-only", "templates/controller.yaml");
        String json = CLUSTER.kubectl(
                "create",
                "--dry-run=client",
                "--validate=false",
                "-o",
                "json",
                "-f",
                file("controller.yaml", controller));
        return objects(json).stream()
                .filter(each -> "Deployment".equals(each.get("kind").getAsString()))
                .flatMap(each -> elements(each.getAsJsonObject("spec")
                        .getAsJsonObject("template")
                        .getAsJsonObject("spec")
                        .getAsJsonArray("containers")))
                .map(ChartIT::words)
                .filter(words -> "sidecar".equals(words.getFirst()))
                .map(words -> words.subList(1, words.size()))
                .toList();
    }

    private static List<String> words(JsonObject container) {
        return Stream.of("command", "args")
                .filter(container::has)
                .flatMap(each -> container.getAsJsonArray(each).asList().stream())
                .map(JsonElement::getAsString)
                .toList();
    }
}
