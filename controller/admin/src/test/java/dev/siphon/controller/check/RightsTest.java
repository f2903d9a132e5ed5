package dev.siphon.controller.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpServer;
import dev.siphon.controller.kubernetes.KubernetesAccess;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.kubernetes.TestCluster;
import dev.siphon.csi.check.Checklist;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tests the verdicts on an API server's replies about the driver's rights; `RightsIT` uses a real server.
@Timeout(60)
final class RightsTest {
    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    @TempDir
    private Path folder = Path.of("");

    /// Loading the client's classes takes long on a busy machine, and an adapter waits only 5 s.
    @BeforeAll
    static void loadTheClient(@TempDir Path folder) {
        try (TestCluster cluster = TestCluster.inMemory(folder)) {
            assertEquals(
                    "siphon",
                    cluster.admin()
                            .namespaces()
                            .withName("siphon")
                            .get()
                            .getMetadata()
                            .getName());
        }
    }

    private static KubernetesAccess access(Path folder, String url) {
        JsonObject cluster = new JsonObject();
        cluster.addProperty("server", url);
        return new KubernetesAccess(
                "siphon", Optional.of(TestCluster.kubeconfig(folder.resolve("kubeconfig"), cluster, "any")));
    }

    private static String url(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private List<String> look(String url) {
        Checklist list = new Checklist(Duration.ofSeconds(20));
        try (KubernetesAdapter adapter =
                KubernetesAdapter.open(access(folder, url), "cephfs.siphon.dev", () -> Duration.ofSeconds(20))) {
            new KubernetesChecks(Optional.of(adapter)).run(list);
        }
        return list.table().text();
    }

    /// Replies to each review according to its attributes.
    private static HttpServer reviewing(Predicate<JsonObject> allows) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(REVIEWS, exchange -> {
            try (exchange) {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                JsonObject review = JsonParser.parseString(body).getAsJsonObject();
                JsonObject status = new JsonObject();
                status.addProperty(
                        "allowed", allows.test(review.getAsJsonObject("spec").getAsJsonObject("resourceAttributes")));
                review.add("status", status);
                byte[] text = review.toString().getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(201, text.length);
                exchange.getResponseBody().write(text);
            }
        });
        server.start();
        return server;
    }

    private List<String> lookWhere(Predicate<JsonObject> allows) throws IOException {
        HttpServer server = reviewing(allows);
        try {
            return look(url(server));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void whoeverMayAllIsOk() throws IOException {
        assertEquals(
                "kubernetes  ok      has all rights that it needs",
                lookWhere(_ -> true).getLast());
    }

    @Test
    void whatIsMissingIsNamed() throws IOException {
        String line = lookWhere(right -> !right.get("verb").getAsString().equals("list")
                        && !right.get("name").getAsString().equals("siphon-grants"))
                .getLast();
        assertTrue(
                line.contains("may not list secrets, get configmaps siphon-grants, patch configmaps siphon-grants, list"
                        + " namespaces everywhere, list persistentvolumes everywhere, list persistentvolumeclaims"
                        + " everywhere, list pods everywhere, list nodes everywhere, list events everywhere, list datasets"
                        + " everywhere, list datasetaccesses everywhere, list namespaceaccesses everywhere, list"
                        + " datasetreplicas everywhere, list datasetwarmups everywhere, list"
                        + " datasetimports everywhere, list jobs"),
                line);
        assertTrue(line.contains("kubectl apply -k deploy/"), line);
    }

    @Test
    void whoMayListDatasetChecksHasToAnswerKueue() throws IOException {
        String line = lookWhere(right -> !right.get("resource").getAsString().equals("workloads"))
                .getLast();
        assertTrue(
                line.contains("may not list workloads everywhere, watch workloads everywhere, patch workloads"
                        + " everywhere, patch workloads/status everywhere"),
                line);
        assertEquals(
                "kubernetes  ok      has all rights that it needs",
                lookWhere(right -> !right.get("group").getAsString().equals("kueue.x-k8s.io")
                                && !right.get("resource").getAsString().equals("datasetchecks"))
                        .getLast());
    }

    @Test
    void whoMayReadThePackersTemplateHasToRunPackers() throws IOException {
        String line = lookWhere(right -> !right.get("resource").getAsString().equals("jobs"))
                .getLast();
        assertTrue(
                line.contains("may not get jobs, list jobs, create jobs, delete jobs, get jobs everywhere, create jobs"
                        + " everywhere, delete jobs everywhere  "),
                line);
        assertEquals(
                "kubernetes  ok      has all rights that it needs",
                lookWhere(right -> !List.of("jobs", "podtemplates")
                                .contains(right.get("resource").getAsString()))
                        .getLast());
    }

    @Test
    void whoeverIsNotThereHasARemedyToo() {
        String line = look("http://127.0.0.1:1").getLast();
        assertTrue(line.contains("failed") && line.contains("--kubeconfig"), line);
    }
}
