package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/// Parses the command lines in `deploy/siphon.yaml` with the real command line.
final class ManifestsTest {
    private static final Path MANIFESTS = Path.of("siphon.yaml");
    private static final ObjectMapper JSON = new ObjectMapper();

    /// A container that runs the launcher.
    ///
    /// @param arguments what follows the subcommand
    /// @param variables its environment; values that Kubernetes fills in are `x`
    record Container(String subcommand, List<String> arguments, Map<String, String> variables) {
        /// Returns the arguments as Kubernetes passes them: `$(NAME)` is replaced by that variable's value.
        List<String> started() {
            return arguments.stream().map(this::filledIn).toList();
        }

        private String filledIn(String argument) {
            String text = argument;
            for (Map.Entry<String, String> variable : variables.entrySet()) {
                text = text.replace("$(" + variable.getKey() + ")", variable.getValue());
            }
            return text;
        }

        /// Returns the variables that the process reads itself, because no argument contains them.
        Set<String> read() {
            Set<String> names = new TreeSet<>(variables.keySet());
            names.removeIf(name -> arguments.stream().anyMatch(argument -> argument.contains("$(" + name + ")")));
            return names;
        }
    }

    @Test
    void thereAreAControllerANodeAndASupervisorOfFuse() throws IOException {
        assertEquals(
                List.of("controller", "fuse", "node"),
                containers().map(Container::subcommand).sorted().toList());
    }

    @ParameterizedTest
    @MethodSource("containers")
    void theCommandLineTakesAllArguments(Container container) {
        assertDoesNotThrow(() -> parse(container, "--rpc-timeout=60"));
    }

    /// If the node's init container fails, or waits, the node mounts nothing.
    @Test
    void theNodesInitContainerEndsInAnyCaseAndWritesItsMessage() throws IOException {
        List<String> commands = objects()
                .flatMap(object -> elements(object.at("/spec/template/spec/initContainers")))
                .map(init -> init.at("/command/2").asText())
                .toList();
        assertEquals(List.of("timeout -s KILL 30 siphon check kernel >/dev/termination-log || true"), commands);
        assertDoesNotThrow(() -> SiphonMain.commandLine(List.of("check")).parseArgs("check", "kernel"));
    }

    @ParameterizedTest
    @MethodSource("containers")
    void aWrongArgumentIsRefused(Container container) {
        assertThrows(CommandLine.UnmatchedArgumentException.class, () -> parse(container, "--no-such-flag=x"));
    }

    /// Parses the launcher's arguments and `more`.
    private static void parse(Container container, String more) {
        List<String> all = new ArrayList<>(List.of(container.subcommand()));
        all.addAll(container.started());
        container
                .read()
                .forEach(
                        name -> all.add(flag(name) + "=" + container.variables().get(name)));
        all.add(more);
        SiphonMain.commandLine(all).parseArgs(all.toArray(String[]::new));
    }

    /// Returns the flag for a variable, as docs/reference/flags.md defines: without the prefix `SIPHON_` or
    /// `CSI_`.
    private static String flag(String variable) {
        return "--"
                + variable.replaceFirst("^(?:SIPHON|CSI)_", "")
                        .toLowerCase(Locale.ROOT)
                        .replace('_', '-');
    }

    @Test
    void noPodMayConnectToTheControllersUnlessSomebodyNamesIt() throws IOException {
        List<JsonNode> policies = objects()
                .filter(object -> object.path("kind").asText().equals("NetworkPolicy"))
                .map(object -> object.path("spec"))
                .toList();
        assertEquals(1, policies.size());
        JsonNode policy = policies.getFirst();
        assertEquals(
                "controller",
                policy.at("/podSelector/matchLabels")
                        .path("app.kubernetes.io/component")
                        .asText());
        assertEquals(
                List.of("Ingress"),
                elements(policy.path("policyTypes")).map(JsonNode::asText).toList());
        // a rule without `from` would admit everybody
        assertEquals(0, policy.path("ingress").size(), policy::toString);
    }

    @Test
    void whatItsPodsMayDoIsDocumented() throws IOException {
        String page = Files.readString(Path.of("../docs/explanation/isolation.md"));
        List<String> rows = objects()
                .filter(object -> object.at("/spec/template/spec").isObject())
                .map(ManifestsTest::privileges)
                .toList();
        assertEquals(3, rows.size());
        rows.forEach(row -> assertTrue(page.contains(row), row));
    }

    /// Returns a workload's row of docs/explanation/isolation.md.
    private static String privileges(JsonNode workload) {
        JsonNode pod = workload.at("/spec/template/spec");
        List<String> host = Stream.of("hostNetwork", "hostPID", "hostIPC")
                .filter(field -> pod.path(field).asBoolean())
                .map(field -> field.substring("host".length()).replace("Network", "network"))
                .toList();
        boolean isPrivileged = elements(pod.path("containers"))
                .anyMatch(
                        container -> container.at("/securityContext/privileged").asBoolean());
        return "| `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        workload.at("/metadata/name").asText(),
                        pod.at("/securityContext/runAsUser").asText("root"),
                        isPrivileged ? "yes" : "no",
                        host.isEmpty() ? "none" : String.join(", ", host),
                        pod.path("automountServiceAccountToken").asBoolean(true) ? "yes" : "no");
    }

    /// A cluster without the Prometheus operator has none of these kinds, and would refuse the manifests.
    @Test
    void nothingNeedsThePrometheusOperatorOrGrafana() throws IOException {
        assertEquals(
                List.of(),
                objects()
                        .filter(object -> object.path("apiVersion").asText().startsWith("monitoring.coreos.com/")
                                || object.at("/metadata/name").asText().contains("dashboard"))
                        .toList());
    }

    private static Stream<JsonNode> objects() throws IOException {
        KubernetesSerialization yaml = new KubernetesSerialization(JSON, false);
        return Arrays.stream(Files.readString(MANIFESTS).split("(?m)^---$", -1))
                .filter(document -> !document.isBlank())
                .map(document -> yaml.unmarshal(document, GenericKubernetesResource.class))
                .map(object -> JSON.valueToTree(object));
    }

    private static Stream<Container> containers() throws IOException {
        return objects()
                .flatMap(object -> elements(object.at("/spec/template/spec/containers")))
                .filter(container -> container.at("/command/0").asText().equals("siphon"))
                .map(ManifestsTest::container);
    }

    private static Container container(JsonNode from) {
        Map<String, String> variables = new HashMap<>();
        elements(from.path("env"))
                .forEach(variable -> variables.put(
                        variable.path("name").asText(), variable.path("value").asText("x")));
        return new Container(
                from.at("/command/1").asText(),
                elements(from.path("args")).map(JsonNode::asText).toList(),
                variables);
    }

    private static Stream<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }
}
