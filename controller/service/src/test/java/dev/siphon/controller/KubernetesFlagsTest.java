package dev.siphon.controller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.kubernetes.KubernetesAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/// Tests which Kubernetes flags can be combined.
final class KubernetesFlagsTest {
    @TempDir
    private Path folder = Path.of("");

    @Command
    private static final class Flags {
        @Mixin
        private ControllerOptions options = new ControllerOptions();
    }

    @BeforeEach
    void writeFiles() throws IOException {
        Files.writeString(folder.resolve("keyring"), "[client.a]\n\tkey = AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\n");
        Files.setPosixFilePermissions(folder.resolve("keyring"), PosixFilePermissions.fromString("rw-------"));
        Files.writeString(
                folder.resolve("clusters"),
                "{\"clusters\": [{\"id\": \"lab\", \"monitors\": [\"v2:127.0.0.1:1\"], \"user\": \"a\", \"keyringFile\": \""
                        + folder.resolve("keyring") + "\"}]}");
        Files.createDirectory(
                folder.resolve("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.writeString(folder.resolve("kubeconfig"), """
                {"apiVersion": "v1", "kind": "Config", "current-context": "it",
                 "clusters": [{"name": "it", "cluster": {"server": "https://127.0.0.1:1"}}],
                 "users": [{"name": "it", "user": {"token": "sesame"}}],
                 "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}
                """);
    }

    private ControllerConfig read(String... flags) {
        List<String> all = new ArrayList<>(List.of("--clusters=" + folder.resolve("clusters")));
        all.addAll(List.of(flags));
        Flags command = new Flags();
        CommandLine line = new CommandLine(command);
        line.parseArgs(all.toArray(String[]::new));
        return command.options.read(line.getCommandSpec());
    }

    private String problems(String... flags) {
        return assertThrows(ParameterException.class, () -> read(flags)).toString();
    }

    @Test
    void withoutANamespaceThereIsNoKubernetes() {
        assertEquals(Optional.empty(), read().backend().kubernetes());
        assertEquals(Optional.empty(), read("--kubernetes-namespace=").backend().kubernetes());
    }

    @Test
    void aNamespaceAndAKubeconfigSayWhere() {
        ControllerConfig config = read("--kubernetes-namespace=siphon", "--kubeconfig=" + folder.resolve("kubeconfig"));
        assertEquals(
                Optional.of(new KubernetesAccess("siphon", Optional.of(folder.resolve("kubeconfig")))),
                config.backend().kubernetes());
        assertFalse(config.toString().contains("sesame"), config.toString());
    }

    @Test
    void whatCanBeInOnePlaceOnlyIsRefusedInTwo() {
        String found = problems(
                "--kubernetes-namespace=siphon",
                "--kubeconfig=" + folder.resolve("kubeconfig"),
                "--key-dir=" + folder.resolve("keys"),
                "--grants-file=" + folder.resolve("grants.json"));
        assertTrue(found.contains("--key-dir: does not go with --kubernetes-namespace"), found);
        assertTrue(found.contains("--grants-file: does not go with --kubernetes-namespace"), found);
    }

    @Test
    void everythingThatIsWrongIsToldAtOnce() {
        String found = problems(
                "--kubernetes-namespace=Siphon!",
                "--kubeconfig=" + folder.resolve("missing"),
                "--reconcile-interval=0");
        assertTrue(found.contains("--kubernetes-namespace, --kubeconfig: "), found);
        assertTrue(found.contains("--reconcile-interval: "), found);
        String alone = problems("--kubeconfig=" + folder.resolve("kubeconfig"));
        assertTrue(alone.contains("--kubeconfig: needs --kubernetes-namespace"), alone);
        String outside = problems("--kubernetes-namespace=siphon");
        assertTrue(outside.contains("not in a pod"), outside);
    }
}
