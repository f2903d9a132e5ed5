package dev.siphon.e2e.driver;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The folder of one controller and its nodes: clusters, accounts, sockets, state, logs.
public final class DriverFolder implements AutoCloseable {
    /// The number of accounts: `u1`, `u2` and so on, with uid and gid 10001, 10002 and so on.
    public static final int ACCOUNTS = 9;

    /// The interval in seconds follows; an hour without it.
    public static final String RECONCILE = "--reconcile-interval=";

    private static final int RECONCILE_SECONDS = 3_600;
    private static final int FIRST_UID = 10001;

    private final Path folder;
    private final Map<String, Lab> clusters;

    private DriverFolder(Path folder, Map<String, Lab> clusters) {
        this.folder = folder;
        this.clusters = clusters;
    }

    /// Creates a folder for this lab's cluster, named `lab`.
    public static DriverFolder create() {
        return create(Map.of("lab", Lab.here()));
    }

    /// Creates a folder for several clusters by name; `lab` is the default one.
    public static DriverFolder create(Map<String, Lab> clusters) {
        try {
            // accounts must reach the volumes that are mounted below
            Path folder = Files.createTempDirectory("siphon-driver-");
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            DriverFolder made = new DriverFolder(folder, new LinkedHashMap<>(clusters));
            Files.writeString(made.folder.resolve("clusters.json"), made.clustersJson());
            Files.writeString(made.folder.resolve("passwd"), accounts("u%1$d:x:%2$d:%2$d::/:/bin/false"));
            Files.writeString(made.folder.resolve("group"), accounts("u%1$d:x:%2$d:"));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String accounts(String line) {
        return IntStream.rangeClosed(1, ACCOUNTS)
                .mapToObj(number -> line.formatted(number, FIRST_UID + number - 1))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private String clustersJson() {
        return clusters.entrySet().stream()
                .map(each -> """
                    {"id": "%s", "monitors": ["%s"], "user": "admin", "keyringFile": "%s", "default": %s}\
                    """.formatted(
                                each.getKey(),
                                each.getValue().monitors(),
                                each.getValue().keyring(),
                                each.getKey().equals("lab")))
                .collect(Collectors.joining(",\n", "{\"clusters\": [\n", "]}\n"));
    }

    /// Returns a path in the folder.
    public Path file(String name) {
        return folder.resolve(name);
    }

    /// Returns the flags of a controller that serves on the socket `controller.sock`.
    public List<String> controllerFlags(int opsPort, String... more) {
        boolean reconciles = Stream.of(more).anyMatch(flag -> flag.startsWith(RECONCILE));
        Stream<String> usual = Stream.of(
                "--endpoint=unix://" + file("controller.sock"),
                "--ops-port=" + opsPort,
                "--clusters=" + file("clusters.json"),
                "--directory-passwd=" + file("passwd"),
                "--directory-group=" + file("group"));
        // tests count round trips: no reconciliation may add some
        Stream<String> rarely = reconciles ? Stream.of() : Stream.of(RECONCILE + RECONCILE_SECONDS);
        return flags(Stream.concat(usual, rarely), more);
    }

    /// Starts `siphon controller` from the launcher and waits until it is ready.
    public ServedProcess controller(String... more) {
        return startController(more).awaitReady();
    }

    /// Starts `siphon controller` from the launcher.
    public ServedProcess startController(String... more) {
        int port = freePort();
        return start("controller", "controller", port, controllerFlags(port, more));
    }

    /// Starts `siphon node` from the launcher and waits until it is ready.
    ///
    /// @param name of the node
    public ServedProcess node(String name, String... more) {
        return startNode(name, more).awaitReady();
    }

    /// Starts `siphon node` from the launcher.
    public ServedProcess startNode(String name, String... more) {
        int port = freePort();
        return start("node", name, port, nodeFlags(name, port, more));
    }

    /// Returns the flags of a node that serves on the socket `NAME.sock`.
    public List<String> nodeFlags(String name, int opsPort, String... more) {
        return flags(
                Stream.of(
                        "--endpoint=unix://" + file(name + ".sock"),
                        "--ops-port=" + opsPort,
                        "--node-id=" + name,
                        "--state-dir=" + file(name + "-state")),
                more);
    }

    private ServedProcess start(String subcommand, String name, int port, List<String> flags) {
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString(), subcommand));
        command.addAll(flags);
        return ServedProcess.start(command, endpoint(name + ".sock"), port, file(name + ".log"));
    }

    /// Returns the endpoint of this socket in the folder.
    public UnixEndpoint endpoint(String socket) {
        return UnixEndpoint.parse("unix://" + file(socket));
    }

    private static List<String> flags(Stream<String> own, String... more) {
        return Stream.concat(own, Stream.of(more)).toList();
    }

    /// Returns a port that was free a moment ago.
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes the folder. Nothing may be mounted below it by then.
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
