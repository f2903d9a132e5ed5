package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `deploy/kubectl-siphon` over a kubectl that notes its arguments. Ceph is away: `siphon check controller` hangs.
@Timeout(120)
final class KubectlSiphonTest {
    private static final String CEPH_KEY = "AQ" + "x1+/".repeat(9) + "==";
    private static final String PASSWORD = "correct-horse";

    /// Each line contains a secret.
    private static final String SECRETS = """
            \tkey = %1$s
            level=info msg="mounted" secret=%1$s
            userKey: %1$s
            {"bindDn": "cn=x", "bindPassword": "%2$s \\"%2$s\\""}
              {"data": "{\\"password\\": \\"%2$s\\", \\"b\\": 1}"}
            password: %2$s %2$s
            --bind-password=%2$s --next
            'userKey': '%2$s'
            {"name":"LDAP_PASSWORD","value":"%2$s"}
            - name: LDAP_PASSWORD
              value: %2$s
            Authorization: Bearer %2$s
            ldap://cn=x:%2$s@10.0.0.1
            -----BEGIN EC PRIVATE KEY-----
            %2$s
            -----END EC PRIVATE KEY-----
            token: %2$s
            """.formatted(CEPH_KEY, PASSWORD);

    private static final String STUB = """
            #!/usr/bin/env bash
            echo "$*" >>"$(dirname "$0")/calls"
            case "$*" in
              *"get lease siphon-controller -o jsonpath"*) printf leader ;;
              *"get pod leader "*) printf "$(cat "$(dirname "$0")/phase")" ;;
              *component=controller*) printf leader ;;
              *component=node*) printf 'node-a node-b' ;;
              *'jsonpath={.items[*].metadata.name}') printf 'leader node-a node-b' ;;
              *'config view'*) printf u1 ;;
              *'siphon check controller'*) exec tail -f /dev/null ;;
              *) cat "$(dirname "$0")/secrets"; echo "end of $*" ;;
            esac
            """;

    @TempDir
    private Path folder = Path.of("");

    private record Result(int exit, String output) {}

    @BeforeEach
    void writeKubectl() throws IOException {
        Path stub = Files.writeString(folder.resolve("kubectl"), STUB);
        assertTrue(stub.toFile().setExecutable(true));
        Files.writeString(folder.resolve("phase"), "Running");
        Files.writeString(folder.resolve("secrets"), SECRETS);
        Files.writeString(folder.resolve("calls"), "");
    }

    private Result run(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of("kubectl-siphon").toAbsolutePath().toString()));
        command.addAll(List.of(words));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("KUBECTL", folder.resolve("kubectl").toString());
        builder.environment().put("SIPHON_STEP_SECONDS", "2");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    private List<String> calls() throws IOException {
        return Files.readAllLines(folder.resolve("calls"));
    }

    private void assertCalls(String call, String... words) throws IOException, InterruptedException {
        Result result = run(words);
        assertEquals(0, result.exit(), result::output);
        assertTrue(calls().contains(call), () -> String.join(" ", words) + " called: " + result.output());
    }

    @Test
    void questionsGoToTheLeader() throws IOException, InterruptedException {
        String inLeader = "-n siphon exec pod/leader -c siphon -- siphon ";
        assertCalls(inLeader + "why u7/train", "why", "u7/train");
        assertCalls(inLeader + "why u1/train", "why", "train");
        assertCalls(inLeader + "why u2/train", "-n", "u2", "why", "train");
        assertCalls(inLeader + "whois client.4305 --json", "whois", "client.4305", "--json");
        assertCalls(inLeader + "user list u1", "users", "u1");
    }

    @Test
    void whereNobodyLeadsAnyControllerAnswers() throws IOException, InterruptedException {
        Files.writeString(folder.resolve("phase"), "");

        assertCalls("-n siphon exec deployment/siphon-controller -c siphon -- siphon whois u1", "whois", "u1");
    }

    @Test
    void objectsAreListed() throws IOException, InterruptedException {
        assertCalls("get datasets -o wide", "datasets");
        assertCalls("--context other get datasetreplicas -o wide -w", "--context", "other", "replicas", "-w");
    }

    @Test
    void helpListsEachCommandAndAMistakeIsAnError() throws IOException, InterruptedException {
        String help = run("--help").output();
        for (String command : List.of("why", "whois", "datasets", "replicas", "users", "debug")) {
            assertTrue(help.contains("  kubectl siphon " + command), help);
        }
        assertEquals(0, run("help").exit());
        assertEquals(2, run().exit());
        assertEquals(2, run("wyh").exit());
        assertEquals(2, run("why").exit());
        assertEquals(2, run("why", "-n").exit());
    }

    @Test
    void theBundleHasNoSecretAndIsWrittenWhileCephIsAway() throws IOException, InterruptedException {
        Result result = run("debug", "bundle.tar.gz");
        assertEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains("bundle.tar.gz is written: "), result.output());

        Process tar = new ProcessBuilder("tar", "-xzf", "bundle.tar.gz", "--strip-components=1", "--one-top-level=out")
                .directory(folder.toFile())
                .start();
        assertEquals(0, tar.waitFor());
        List<Path> files = files(folder.resolve("out"));
        for (Path file : files) {
            String text = Files.readString(file);
            assertFalse(text.contains(PASSWORD) || text.contains(CEPH_KEY.substring(0, 20)), () -> file + ": " + text);
        }
        List<String> names = files.stream()
                .map(file -> folder.resolve("out").relativize(file).toString())
                .toList();
        assertTrue(
                names.containsAll(List.of(
                        "steps",
                        "versions/kubernetes",
                        "versions/leader",
                        "configuration/configmaps.yaml",
                        "objects/datasetreplicas",
                        "changes/events-by-driver",
                        "ceph/leader.check",
                        "logs/leader.previous",
                        "nodes/node-b/mounts")),
                names::toString);
        String steps = Files.readString(folder.resolve("out/steps"));
        assertTrue(steps.lines().anyMatch(line -> line.matches("ceph/leader\\.check\t.*exit 1[0-9]+")), steps);
        assertTrue(steps.lines().anyMatch(line -> line.matches("nodes/node-a/mounts\t.*exit 0")), steps);
        assertTrue(
                Files.readString(folder.resolve("out/nodes/node-a/mounts")).contains("end of -n siphon exec node-a"));
        assertTrue(calls().stream().noneMatch(call -> call.matches("(?i).*get .*secrets?[ ,].*")), () -> "a Secret");
        assertEquals("rw-------", mode(folder.resolve("bundle.tar.gz")));
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }
}
