package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.config.JsonFile;
import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClustersFileTest {
    private static final Path FILE = Path.of("/etc/siphon/clusters.json");

    @Test
    void everyFieldOfEveryClusterIsRead() {
        ClustersFile file = ClustersFile.parse(FILE, """
                {"clusters": [
                  {"id": "a", "monitors": ["[v2:10.1.1.1:3300/0,v1:10.1.1.1:6789/0]", "10.1.1.2"], "user": "siphon",
                   "keyringFile": "/k/a"},
                  {"id": "b", "monitors": ["10.2.1.1:6789"], "user": "admin", "keyringFile": "/k/b", "default": true}
                ]}""");
        assertEquals(2, file.clusters().size());
        assertEquals("a", file.clusters().getFirst().cluster());
        assertEquals(
                "[v2:10.1.1.1:3300/0,v1:10.1.1.1:6789/0],10.1.1.2",
                file.clusters().getFirst().monHost());
        assertEquals("siphon", file.clusters().getFirst().user());
        assertEquals(Path.of("/k/b"), file.clusters().get(1).keyringFile());
        assertEquals(Optional.of("b"), file.defaultCluster());
    }

    @Test
    void aClusterOfRooksNeedsNoMonitorsAndMayHaveSome() {
        ClustersFile file = ClustersFile.parse(FILE, """
                {"clusters": [
                  {"id": "a", "rook": "rook-ceph", "user": "siphon", "keyringFile": "/k/a"},
                  {"id": "b", "rook": "other", "monitors": ["10.2.1.1"], "user": "siphon", "keyringFile": "/k/b"}
                ]}""");
        assertEquals(Map.of("a", "rook-ceph", "b", "other"), file.rook());
        DriverException unknown = assertThrows(
                DriverException.BackendUnavailable.class,
                () -> file.clusters().getFirst().monHost());
        assertTrue(String.valueOf(unknown.getMessage()).contains("Rook's ConfigMap"), unknown.getMessage());
        assertEquals("10.2.1.1", file.clusters().get(1).monHost());
        ClustersFile moved = file.at(Map.of("a", List.of("10.0.0.1")));
        assertEquals("10.0.0.1", moved.clusters().getFirst().monHost());
        assertEquals("10.2.1.1", moved.clusters().get(1).monHost());
        assertEquals(file.rook(), moved.rook());
    }

    @Test
    void theOnlyClusterIsTheDefault() {
        assertEquals(Optional.of("a"), ClustersFile.parse(FILE, one("[\"h\"]")).defaultCluster());
    }

    @Test
    void ofSeveralNoneIsTheDefaultUnlessMarked() {
        String two = one("[\"h\"]").replace("]}", ", ")
                + one("[\"h\"]").replace("{\"clusters\":[", "").replace("\"a\"", "\"b\"");
        assertEquals(Optional.empty(), ClustersFile.parse(FILE, two).defaultCluster());
    }

    @Test
    void allErrorsAreReportedAtOnceWithTheFieldsName() {
        String message = error("""
                {"clusters": [
                  {"id": "A b", "monitors": ["x y", 7], "user": "client.admin", "keyringFile": "k", "default": 1, "key": "s"},
                  {"id": "c", "monitors": [], "user": "", "keyringFile": "/k"},
                  {"id": "c", "monitors": ["h"], "user": "u", "keyringFile": "/k"},
                  {"id": "e", "rook": "Rook Ceph", "user": "u", "keyringFile": "/k"},
                  "d"
                ]}""");
        for (String part : List.of(
                "clusters[0].id",
                "clusters[0].monitors[0]",
                "clusters[0].monitors[1]",
                "clusters[0].user",
                "clusters[0].keyringFile",
                "clusters[0].default",
                "clusters[0].\"key\" is not known",
                "clusters[1].monitors",
                "clusters[1].user",
                "clusters[2].id \"c\" is there twice",
                "clusters[3].rook must be the namespace of Rook's cluster, but \"Rook Ceph\" is not a namespace",
                "clusters[4] must be an object")) {
            assertTrue(message.contains(part), () -> part + " in: " + message);
        }
    }

    @Test
    void twoDefaultsAreRefused() {
        String both = """
                {"clusters": [{"id": "a", "monitors": ["h"], "user": "u", "keyringFile": "/k", "default": true},
                              {"id": "b", "monitors": ["h"], "user": "u", "keyringFile": "/k", "default": true}]}""";
        assertTrue(error(both).contains("default is set on more than one cluster: a, b"));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {"empty|''", "not JSON|{", "not an object|[]", "no list|{}", "an empty list|{\"clusters\":[]}"})
    void aFileWithoutClustersIsRefused(String name, String text) {
        assertTrue(error(text).contains("clusters file /etc/siphon/clusters.json"), name);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "h|true",
                "10.0.0.1:6789|true",
                "[fd00::1]:6789|true",
                "v2:10.0.0.1:3300/0|true",
                "[v2:[fd00::1]:3300/0,v1:[fd00::1]:6789/0]|true",
                "[v2:10.0.0.1:3300/0|false",
                "10.0.0.1,10.0.0.2|false",
                "10.0.0.1 name=admin|false",
                "v3:10.0.0.1:3300/0|false"
            })
    void monitorsAreAddresses(String monitor, boolean good) {
        String text = one("[\"" + monitor + "\"]");
        if (good) {
            assertEquals(
                    monitor,
                    ClustersFile.parse(FILE, text).clusters().getFirst().monHost());
        } else {
            assertTrue(error(text).contains("clusters[0].monitors[0]"));
        }
    }

    @Test
    void aFileThatIsNotThereIsReported() {
        Path missing = Path.of("/nonexistent/clusters.json");
        assertTrue(String.valueOf(assertThrows(JsonFile.Invalid.class, () -> ClustersFile.read(missing))
                        .getMessage())
                .contains("cannot be read"));
    }

    private static String one(String monitors) {
        return "{\"clusters\":[{\"id\":\"a\",\"monitors\":" + monitors + ",\"user\":\"u\",\"keyringFile\":\"/k\"}]}";
    }

    private static String error(String text) {
        return String.valueOf(assertThrows(JsonFile.Invalid.class, () -> ClustersFile.parse(FILE, text))
                .getMessage());
    }
}
