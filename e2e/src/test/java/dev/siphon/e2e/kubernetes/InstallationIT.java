package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// One command installs Siphon on an empty cluster, and both sides report that they lack nothing.
@Tag("kubernetes")
@OnCluster
final class InstallationIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @BeforeAll
    static void install() {
        siphon = Installation.in(CLUSTER);
    }

    @Test
    void theClusterIsTheOneThatTheDocumentsName() {
        assertEquals("v1.36.1", CLUSTER.client().getKubernetesVersion().getGitVersion());
    }

    @Test
    void theNodeHasTheDriver() {
        assertEquals(List.of(Installation.DRIVER), siphon.driversOfNode());
    }

    @Test
    void theControllerLacksNothing() {
        Command.Result said = siphon.siphon("check", "controller", "--account", "u1", "--json");

        assertEquals(0, said.exit(), said::output);
        assertEquals(
                Map.of("lab: rook", "skipped"), // this Ceph is not Rook's
                results(said.output()).entrySet().stream()
                        .filter(each -> !"ok".equals(each.getValue()))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    /// Checks single results: the kernel may have no CephFS, so the check as a whole may fail.
    @Test
    void theNodeHasWhatItNeedsForFuse() {
        Map<String, String> results = results(siphon.onNode(
                        "siphon", "check", "node", "--monitors", CLUSTER.lab().address(), "--json")
                .output());

        for (String check : List.of(
                "privileges",
                "ceph-fuse",
                "fuse supervisor",
                "state directory",
                "kubelet registration",
                "pod resources",
                "monitors")) {
            assertEquals("ok", results.get(check), () -> check + " in " + results);
        }
    }

    /// Parses lines of JSON into results by check.
    private static Map<String, String> results(String lines) {
        return lines.lines()
                .filter(line -> line.startsWith("{"))
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .filter(each -> each.has("check"))
                .collect(Collectors.toMap(
                        InstallationIT::check, each -> each.get("result").getAsString()));
    }

    private static String check(JsonObject line) {
        return line.get("check").getAsString();
    }
}
