package dev.siphon.e2e.docker;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// An account's home as a volume on this host, handled by the commands of `deploy/examples/docker/README.md`.
/// Closing removes volume and home, and fails if anything remains.
final class HomeVolume implements AutoCloseable {
    static final int MEBIBYTES = 256;

    /// A login host; its key, if it has one, is removed with the home.
    static final String LOGIN_HOST = "login1";

    private static final Duration KEY_LIMIT = Duration.ofSeconds(10);

    /// The script starts `siphon csi` twice and a container, which is slow on a busy machine.
    private static final Duration SCRIPT_LIMIT = Duration.ofMinutes(3);

    private final LabDriver driver;
    private final String account;
    private final Path folder;
    private final String id;

    private HomeVolume(LabDriver driver, String account, Path folder, String id) {
        this.driver = driver;
        this.account = account;
        this.folder = folder;
        this.id = id;
    }

    /// Creates the home of `account`, one of `lab.d/driver`. No other test may use that account meanwhile.
    static HomeVolume create(String account) {
        try {
            LabDriver driver = LabDriver.here();
            Path folder = Files.createTempDirectory("siphon-docker-");
            String answer = driver.createVolume(request(account));
            Files.writeString(folder.resolve("volume.json"), answer);
            return new HomeVolume(driver, account, folder, idIn(answer));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String request(String account) {
        return """
                {"name": "docker-%1$s", "capacity_range": {"required_bytes": %2$d},
                 "volume_capabilities": [{"mount": {}, "access_mode": {"mode": "MULTI_NODE_MULTI_WRITER"}}],
                 "parameters": {"owner": "%1$s", "kind": "home"}}""".formatted(account, MEBIBYTES << 20);
    }

    private static String idIn(String answer) {
        return JsonParser.parseString(answer)
                .getAsJsonObject()
                .getAsJsonObject("volume")
                .get("volume_id")
                .getAsString();
    }

    String account() {
        return account;
    }

    /// Returns the account's uid, which is also its gid, as `lab.d/driver` assigns it.
    int uid() {
        return 10_000 + Integer.parseInt(account.substring(1));
    }

    /// Returns the owner as `stat -c %u:%g` prints it.
    String owner() {
        return uid() + ":" + uid();
    }

    /// Returns a file of this home's folder, outside the volume.
    Path file(String name) {
        return folder.resolve(name);
    }

    /// Returns the file with the volume's key. The controller may write it after the reply to CreateVolume.
    Path key() {
        Path key = driver.keys().resolve(id + ".json");
        Await.until("the key of " + id, KEY_LIMIT, () -> Files.exists(key));
        return key;
    }

    /// Runs `siphon-docker attach`.
    ///
    /// @return the volume's mount point
    Path attach() {
        return Path.of(succeeded(script("volumes", "attach", key().toString())).strip());
    }

    /// Runs `siphon-docker attach` with another volume's key, in a folder of its own.
    Command.Result attachWith(Path otherKey) {
        return script("stolen", "attach", otherKey.toString());
    }

    /// Runs `siphon-docker run` without a network.
    ///
    /// @param words more options, the image and the command
    Command.Result tryRun(String... words) {
        return script(
                "volumes",
                "run",
                Stream.concat(Stream.of(key().toString(), "--network=none"), Stream.of(words))
                        .toArray(String[]::new));
    }

    /// Does the same as [#tryRun], but must succeed.
    ///
    /// @return its output
    String run(String... words) {
        return succeeded(tryRun(words));
    }

    /// Runs `siphon-docker detach` if the volume is attached.
    void detach() {
        if (isAttached()) {
            var _ = succeeded(script("volumes", "detach"));
        }
    }

    private boolean isAttached() {
        Path volumes = file("volumes");
        try (Stream<Path> attached = Files.exists(volumes) ? Files.list(volumes) : Stream.empty()) {
            return attached.findAny().isPresent();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Command.Result script(String volumes, String verb, String... words) {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "SIPHON=" + Project.launcher(),
                "NODE_ENDPOINT=" + driver.node(),
                "SIPHON_VOLUMES=" + file(volumes),
                Project.folder().resolve("deploy/examples/docker/siphon-docker").toString(),
                verb,
                file("volume.json").toString()));
        command.addAll(List.of(words));
        return Command.attempt(SCRIPT_LIMIT, command);
    }

    /// Calls DeleteVolume, which keeps the home.
    void delete() {
        driver.deleteVolume(id);
    }

    /// Runs `siphon home` for the login host.
    Command.Result login(String... options) {
        return driver.home(
                account,
                Stream.concat(Stream.of("--host=" + LOGIN_HOST), Stream.of(options))
                        .toArray(String[]::new));
    }

    /// Returns the number of the account's homes in Ceph.
    long homes() {
        return driver.ofGroup(group()).stream()
                .filter(line -> line.startsWith("subvolume h"))
                .count();
    }

    /// Lists what exists of the account: subvolumes, identities, key files and mounts of this host.
    List<String> left() {
        return Stream.concat(
                        driver.ofGroup(group()).stream(),
                        Command.run("cat", "/proc/self/mounts").lines().filter(line -> line.contains(folder + "/")))
                .toList();
    }

    private String group() {
        return id.split(":", -1)[3];
    }

    private static String succeeded(Command.Result result) {
        if (result.exit() != 0) {
            throw new AssertionError("ended with " + result.exit() + ": " + result.output());
        }
        return result.output();
    }

    @Override
    public void close() {
        detach();
        delete();
        var _ = succeeded(login("--delete", "--yes"));
        List<String> left = left();
        if (!left.isEmpty()) {
            throw new AssertionError("left behind:\n  " + String.join("\n  ", left));
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
