package dev.siphon.e2e.driver;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A folder with all that a controller and nodes of their own need: clusters, accounts, sockets, state, logs.
public final class DriverFolder implements AutoCloseable {
    /// Two people, each with a uid and gid of this number.
    public static final Map<String, Integer> ACCOUNTS = Map.of("u1", 10001, "u2", 10002);

    private final Path folder;
    private final Map<String, Lab> clusters;

    private DriverFolder(Path folder, Map<String, Lab> clusters) {
        this.folder = folder;
        this.clusters = clusters;
    }

    /// For the cluster of this lab, by the name of `lab`.
    public static DriverFolder create() {
        return create(Map.of("lab", Lab.here()));
    }

    /// For several clusters by name; the one called `lab` is the default.
    public static DriverFolder create(Map<String, Lab> clusters) {
        try {
            DriverFolder made =
                    new DriverFolder(Files.createTempDirectory("siphon-driver-"), new LinkedHashMap<>(clusters));
            Files.writeString(made.folder.resolve("clusters.json"), made.clustersJson());
            Files.writeString(
                    made.folder.resolve("passwd"),
                    ACCOUNTS.entrySet().stream()
                            .map(each -> each.getKey() + ":x:" + each.getValue() + ":" + each.getValue()
                                    + "::/:/bin/false\n")
                            .collect(Collectors.joining()));
            Files.writeString(
                    made.folder.resolve("group"),
                    ACCOUNTS.entrySet().stream()
                            .map(each -> each.getKey() + ":x:" + each.getValue() + ":\n")
                            .collect(Collectors.joining()));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String clustersJson() {
        return clusters.entrySet().stream()
                .map(each -> """
                        {"id": "%s", "monitors": ["%s"], "user": "admin", "keyringFile": "%s", "default": %s}""".formatted(
                                each.getKey(),
                                each.getValue().monitors(),
                                each.getValue().keyring(),
                                each.getKey().equals("lab")))
                .collect(Collectors.joining(",\n", "{\"clusters\": [\n", "]}\n"));
    }

    /// A path in it.
    public Path file(String name) {
        return folder.resolve(name);
    }

    /// The flags of a controller that serves on the socket `controller.sock`.
    public List<String> controllerFlags(int opsPort, String... more) {
        return flags(
                Stream.of(
                        "--endpoint=unix://" + file("controller.sock"),
                        "--ops-address=127.0.0.1:" + opsPort,
                        "--clusters=" + file("clusters.json"),
                        "--directory-passwd=" + file("passwd"),
                        "--directory-group=" + file("group")),
                more);
    }

    /// Starts `siphon controller` from the launcher and waits until it is ready.
    public ServedProcess controller(String... more) {
        int port = freePort();
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString(), "controller"));
        command.addAll(controllerFlags(port, more));
        return ServedProcess.start(command, endpoint("controller.sock"), port, file("controller.log"))
                .awaitReady();
    }

    /// Starts `siphon node` from the launcher and waits until it is ready.
    ///
    /// @param name of the node
    public ServedProcess node(String name, String... more) {
        int port = freePort();
        String socket = name + ".sock";
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString(), "node"));
        command.addAll(flags(
                Stream.of(
                        "--endpoint=unix://" + file(socket),
                        "--ops-address=127.0.0.1:" + port,
                        "--node-id=" + name,
                        "--state-dir=" + file(name + "-state")),
                more));
        return ServedProcess.start(command, endpoint(socket), port, file(name + ".log"))
                .awaitReady();
    }

    /// The socket of that name in this folder.
    public UnixEndpoint endpoint(String socket) {
        return UnixEndpoint.parse("unix://" + file(socket));
    }

    private static List<String> flags(Stream<String> own, String... more) {
        return Stream.concat(own, Stream.of(more)).toList();
    }

    /// A port that was free a moment ago.
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes it. Nothing may be mounted below it any more.
    @Override
    public void close() {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
