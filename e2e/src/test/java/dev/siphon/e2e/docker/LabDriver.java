package dev.siphon.e2e.docker;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The controller and the node that `e2e/docker` started in this lab, and their administrator's commands.
///
/// @param configuration the folder of the controller's configuration
/// @param controller the controller's endpoint
/// @param node the node's endpoint
/// @param keys the folder in which the controller writes each volume's key
record LabDriver(Path configuration, String controller, String node, Path keys) {
    private static final String LIST_GROUP = """
            ceph <<END | sed -nE "s/.*\\"name\\": \\"(.*)\\".*/subvolume \\1/p; /^client.*$1/p"
            fs subvolume ls $FS_NAME $1
            auth ls
            END
            """;

    /// @throws IllegalStateException if `e2e/docker` has started none
    static LabDriver here() {
        return new LabDriver(
                Lab.here().run().resolve("driver"),
                variable("CONTROLLER_ENDPOINT"),
                variable("NODE_ENDPOINT"),
                Path.of(variable("KEY_DIR")));
    }

    private static String variable(String name) {
        return Optional.ofNullable(System.getenv(name))
                .orElseThrow(() -> new IllegalStateException(name + " is not set: run e2e/docker"));
    }

    /// Runs `siphon csi CreateVolume`, which must succeed.
    ///
    /// @return the controller's reply, as JSON
    String createVolume(String request) {
        return Command.run(Project.launcher().toString(), "csi", "--endpoint=" + controller, "CreateVolume", request);
    }

    /// Calls DeleteVolume.
    void deleteVolume(String id) {
        try (CsiClient client = CsiClient.to(UnixEndpoint.parse(controller))) {
            var _ = client.controller().deleteVolume(Requests.delete(id));
        }
    }

    /// Lists what exists of a subvolumegroup: `subvolume NAME` for each subvolume, each identity, and the key
    /// files.
    List<String> ofGroup(String group) {
        try (Stream<Path> files = Files.list(keys)) {
            return Stream.concat(
                            Command.run("sh", "-ec", LIST_GROUP, "sh", group).lines(),
                            files.map(Path::toString).filter(file -> file.contains(group)))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Runs `siphon home` with the controller's configuration.
    Command.Result home(String account, String... options) {
        List<String> command = List.of(
                Project.launcher().toString(),
                "home",
                account,
                "--clusters=" + configuration.resolve("clusters.json"),
                "--directory-passwd=" + configuration.resolve("passwd"),
                "--directory-group=" + configuration.resolve("group"),
                "--key-dir=" + keys,
                "--endpoint=" + controller);
        return Command.attempt(
                Stream.concat(command.stream(), Stream.of(options)).toArray(String[]::new));
    }
}
