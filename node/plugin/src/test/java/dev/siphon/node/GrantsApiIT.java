package dev.siphon.node;

import static dev.siphon.node.OpsPages.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Grants;
import dev.siphon.node.kubernetes.FakeApi;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A node process with and without a Kubernetes API: which classes it loads, and what it logs.
final class GrantsApiIT {
    private static final String ANSWERED = "siphon_grants_reads_total{result=\"answered\"}";

    private final Workplace workplace = Workplace.create();
    private final Path loaded = workplace.path("loaded");
    private final List<String> logLoaded = List.of("-Xlog:class+load=info:file=" + loaded);

    @AfterEach
    void close() {
        workplace.close();
    }

    @Test
    void aNodeThatAsksNobodyLoadsNoClient() throws IOException {
        try (NodeProcess node = NodeProcess.start(workplace.path("node"), logLoaded);
                OpsPages pages = new OpsPages(node)) {
            await(() -> node.log().contains("\"started\""));
            assertEquals("none", pages.metric(ANSWERED));
        }
        assertEquals(0, clientClasses());
    }

    @Test
    void aNodeThatAsksKnowsTheGrantsBeforeTheFirstPublishAndSaysWhenItNoLongerCan() throws IOException {
        String namespace = "--kubernetes-namespace=" + FakeApi.NAMESPACE;
        String kubeconfig;
        try (FakeApi api = FakeApi.start()) {
            api.publish(Grants.NONE.toJson());
            kubeconfig = "--kubeconfig=" + api.kubeconfig(workplace.directory("config"));
            try (NodeProcess node = NodeProcess.start(workplace.path("node"), logLoaded, namespace, kubeconfig);
                    OpsPages pages = new OpsPages(node)) {
                await(() -> pages.metric(ANSWERED).equals("1.0"));
            }
        }
        assertTrue(clientClasses() > 50);
        try (NodeProcess node = NodeProcess.start(workplace.path("other"), namespace, kubeconfig);
                OpsPages pages = new OpsPages(node)) {
            await(() -> pages.ready().startsWith("200 ") && pages.ready().contains("no grants since"));
            assertTrue(node.log().contains("cannot read the grants"));
        }
    }

    private long clientClasses() throws IOException {
        try (Stream<String> lines = Files.lines(loaded)) {
            return lines.filter(line -> line.contains("io.fabric8.") || line.contains("java.net.http."))
                    .count();
        }
    }
}
