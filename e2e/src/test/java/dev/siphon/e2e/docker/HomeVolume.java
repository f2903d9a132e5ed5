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

/// An account's home as a volume on this host, handled by the commands of `deploy/examples/docker/README.md`. Closing
/// it
/// removes volume and home, and fails if anything is left of them.
final class HomeVolume implements AutoCloseable {
    static final int MEBIBYTES = 256;

    /// A login host whose key, if it was given one, is removed with the home.
    static final String LOGIN_HOST = "login1";

    private static final Duration KEY_LIMIT = Duration.ofSeconds(10);

    /// It starts `siphon csi` twice, and a container, which a busy machine does slowly.
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

    /// Makes the home of `account`, one of `lab.d/driver`; no other test may use that account meanwhile.
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

    /// The account's uid and gid, as `lab.d/driver` numbers them.
    int uid() {
        return 10_000 + Integer.parseInt(account.substring(1));
    }

    /// Its owner as `stat -c %u:%g` prints it.
    String owner() {
        return uid() + ":" + uid();
    }

    /// A file of its own outside the volume.
    Path file(String name) {
        return folder.resolve(name);
    }

    /// The file with the volume's key, which may follow the answer to CreateVolume.
    Path key() {
        Path key = driver.keys().resolve(id + ".json");
        Await.until("the key of " + id, KEY_LIMIT, () -> Files.exists(key));
        return key;
    }

    /// `siphon-docker attach`.
    ///
    /// @return where the volume is mounted
    Path attach() {
        return Path.of(succeeded(script("volumes", "attach", key().toString())).strip());
    }

    /// `siphon-docker attach` with another volume's key, at a place of its own.
    Command.Result attachWith(Path otherKey) {
        return script("stolen", "attach", otherKey.toString());
    }

    /// `siphon-docker run` without a network.
    ///
    /// @param words more options, the image, and what to run in it
    Command.Result tryRun(String... words) {
        return script(
                "volumes",
                "run",
                Stream.concat(Stream.of(key().toString(), "--network=none"), Stream.of(words))
                        .toArray(String[]::new));
    }

    /// As [#tryRun], of what must succeed.
    ///
    /// @return what it said
    String run(String... words) {
        return succeeded(tryRun(words));
    }

    /// `siphon-docker detach`, where the volume is attached.
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

    /// DeleteVolume, which leaves the home.
    void delete() {
        driver.deleteVolume(id);
    }

    /// `siphon home` for the login host.
    Command.Result login(String... options) {
        return driver.home(
                account,
                Stream.concat(Stream.of("--host=" + LOGIN_HOST), Stream.of(options))
                        .toArray(String[]::new));
    }

    /// How many homes the account has in Ceph.
    long homes() {
        return driver.ofGroup(group()).stream()
                .filter(line -> line.startsWith("subvolume h"))
                .count();
    }

    /// What there is of the account: subvolumes, identities and keys, and mounts of this host.
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
