package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Compares what `kubectl describe` shows with the last section of docs/how-to/volumes.md; `RECORD=yes` in the
/// environment rewrites that section.
@Tag("kubernetes")
@OnCluster
final class DescribeIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final Path DOCUMENT = Project.folder().resolve("docs/how-to/volumes.md");
    private static final int SHORTEST_KEY = 30;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static String described;

    @SuppressWarnings("NullAway.Init")
    private static String volume;

    @BeforeAll
    static void describe() {
        var _ = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 7);
        TestClaim data = tenant.claim("data", "20Gi").bound();
        TestClaim huge = tenant.claim("huge", "200Gi");
        var _ = huge.told("code = ResourceExhausted desc = .*");
        // events arrive asynchronously, some late
        var _ = data.told("^ProvisioningSucceeded: ");
        var _ = data.told("^ExternalProvisioning: ");
        var _ = huge.told("^ExternalProvisioning: ");
        volume = data.volume().getMetadata().getName();
        DescribeDocument document = new DescribeDocument(CLUSTER);
        document.add("A claim", "-n u7 describe pvc data");
        document.add("Its volume", "describe pv " + volume);
        document.add("A claim for more than the account has left", "-n u7 describe pvc huge");
        described = document.text();
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    @Test
    void itIsWhatTheDocumentShows() throws IOException {
        String page = Files.readString(DOCUMENT);
        int begin = page.indexOf(DescribeDocument.TITLE);
        assertTrue(begin > 0, DOCUMENT + " lacks " + DescribeDocument.TITLE);
        if ("yes".equals(System.getenv("RECORD"))) {
            Files.writeString(DOCUMENT, page.substring(0, begin) + described);
            page = Files.readString(DOCUMENT);
        }

        assertEquals(page.substring(begin), described, "RECORD=yes writes the end of docs/how-to/volumes.md anew");
    }

    @Test
    void theVolumesKeyIsNotShown() {
        String key = new String(
                Base64.getDecoder()
                        .decode(CLUSTER.client()
                                .secrets()
                                .inNamespace(Installation.NAMESPACE)
                                .withName(volume)
                                .require()
                                .getData()
                                .get("userKey")),
                StandardCharsets.UTF_8);

        assertTrue(key.length() > SHORTEST_KEY, "no key");
        assertFalse(described.contains(key), "kubectl describe shows a key");
    }
}
