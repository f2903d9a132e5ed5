package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A copy of `deploy/` as an administrator fills it in: monitors, a key, LDAP, and the image's name.
///
/// @param path the argument of `kubectl apply -k`
record DeployFolder(Cluster cluster, Path path) {
    DeployFolder(Cluster cluster) {
        this(cluster, cluster.lab().run().resolve("deploy"));
    }

    /// Writes the whole folder again.
    void write() {
        try {
            for (String each : new String[] {"kustomization.yaml", "namespace.yaml", "siphon.yaml"}) {
                copy(source().resolve(each));
            }
            Files.createDirectories(path.resolve("ceph"));
            Files.createDirectories(path.resolve("directory"));
            writeCeph();
            writeDirectory();
            setTag("lab");
            setNodeEnvironment(GpuMachine.environment("1Gi"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void writeCeph() throws IOException {
        Path keyring = path.resolve("ceph/keyring");
        Files.writeString(
                path.resolve("ceph/clusters.json"), """
                {"clusters": [{"id": "lab", "monitors": ["%s"], "user": "siphon", "keyringFile": "/etc/siphon/ceph/keyring",
                  "default": true}]}
                """.formatted(cluster.lab().address()));
        cephCaps("--keyring", keyring.toString());
    }

    /// Runs the commands that `siphon ceph-caps` prints for the driver's identity.
    void cephCaps(String... options) {
        String[] words = Stream.concat(
                        Stream.of(
                                Project.launcher().toString(),
                                "ceph-caps",
                                "--fs",
                                cluster.lab().fileSystem()),
                        Stream.of(options))
                .toArray(String[]::new);
        var _ = Command.run("bash", "-euo", "pipefail", "-c", Command.run(words));
    }

    private void writeDirectory() throws IOException {
        Files.writeString(path.resolve("directory/directory.json"), """
                {"preset": "rfc2307", "servers": ["ldaps://%1$s"], "caFile": "/etc/siphon/directory/ca.pem", "bindDn": "%2$s",
                 "passwordFile": "/etc/siphon/directory/password",
                 "accounts": {"base": "ou=people,%3$s", "allowance": "siphonAllowance"},
                 "groups": {"base": "ou=groups,%3$s", "allowance": "siphonAllowance"}}
                """.formatted(
                        cluster.lab().address(), LabLdap.bindDn(), LabLdap.baseDn()));
        Files.copy(LabLdap.passwordFile(), path.resolve("directory/password"), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(LabLdap.certificate(), path.resolve("directory/ca.pem"), StandardCopyOption.REPLACE_EXISTING);
    }

    /// Changes the image's tag.
    void setTag(String tag) {
        Path kustomization = path.resolve("kustomization.yaml");
        write(kustomization, read(kustomization).replaceFirst("newTag: [^}]*}", "newTag: " + tag + "}"));
    }

    /// Adds variables, as `NAME=VALUE`, to the environment of the nodes' plugin.
    private void setNodeEnvironment(List<String> variables) {
        Path kustomization = path.resolve("kustomization.yaml");
        String operations = variables.stream()
                .map(each -> each.split("=", 2))
                .map(each -> "      - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: " + each[0]
                        + ", value: '" + each[1] + "'}}\n")
                .collect(Collectors.joining());
        write(
                kustomization,
                read(kustomization) + "patches:\n  - target: {kind: DaemonSet, name: siphon-node}\n    patch: |-\n"
                        + operations);
    }

    /// Replaces the manifests by the chart with these values.
    void useChart(String... options) {
        write(path.resolve("siphon.yaml"), Chart.rendered(options));
    }

    private void copy(Path file) throws IOException {
        Files.createDirectories(path);
        Files.copy(file, path.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
    }

    private static Path source() {
        return Project.folder().resolve("deploy");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
