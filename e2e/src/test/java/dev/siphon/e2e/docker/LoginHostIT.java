package dev.siphon.e2e.docker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A home in containers and on a login host. The host mounts it with the line that `siphon home` prints and with
/// its own key.
@Tag("containers")
final class LoginHostIT {
    private static Optional<Login> login = Optional.empty();

    /// @param said the output of `siphon home`, first as JSON and then as a table
    /// @param mount the host's mount point; every user may traverse the folders above it
    private record Login(HomeVolume home, List<String> said, Path mount) implements AutoCloseable {
        static Login start() throws IOException {
            HomeVolume home = HomeVolume.create("u3");
            Path mount = Files.createDirectories(Path.of("/srv/home/u3"));
            String[] options = {"--at=" + mount, "--keyring=" + home.file("keyring")};
            Command.Result json = home.login(options[0], options[1], "--json");
            // a host's existing key is reused
            Command.Result table = home.login(options);
            assertEquals(0, json.exit(), json::output);
            assertEquals(0, table.exit(), table::output);
            String line = JsonParser.parseString(json.output())
                    .getAsJsonObject()
                    .get("fuse")
                    .getAsString();
            var _ = Command.run("sh", "-c", line);
            return new Login(home, List.of(json.output(), table.output()), mount);
        }

        /// Runs a script in the home, as the account.
        String run(String script) {
            String id = Integer.toString(home.uid());
            return Command.run(
                    "setpriv",
                    "--reuid=" + id,
                    "--regid=" + id,
                    "--clear-groups",
                    "sh",
                    "-ec",
                    "cd \"$1\"; " + script,
                    "sh",
                    mount.toString());
        }

        @Override
        public void close() {
            var _ = Command.run("umount", mount.toString());
            home.close();
        }
    }

    @BeforeAll
    static void mount() throws IOException {
        login = Optional.of(Login.start());
    }

    @AfterAll
    static void unmount() {
        login.ifPresent(Login::close);
    }

    private static Login login() {
        return login.orElseThrow();
    }

    @Test
    void theKeyIsInAFileForRootAndIsNotPrinted() throws IOException {
        Path keyring = login().home().file("keyring");
        Path secret = login().home().file("keyring.secret");
        String key = Files.readString(secret).strip();

        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(keyring)));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)));
        assertFalse(key.isEmpty());
        // no assertEquals here, because it would print the key
        assertFalse(login().said().stream().anyMatch(said -> said.contains(key)), "the key was printed");
    }

    @Test
    void theHostReadsWhatAContainerWrote() {
        var _ = login().home().run("tiny", "sh", "-c", "echo \"from a container\" >hello");

        assertEquals("from a container\n", login().run("cat hello"));
    }

    @Test
    void aContainerReadsWhatTheHostWrote() {
        var _ = login().run("echo \"from the login host\" >back");

        assertEquals("from the login host\n", login().home().run("tiny", "cat", "back"));
    }

    @Test
    void allFilesAreTheAccounts() throws IOException {
        var _ = login().home().run("tiny", "sh", "-c", "mkdir -p dir && touch dir/file");
        var _ = login().run("mkdir -p here && touch here/file");

        Set<String> owners;
        try (Stream<Path> all = Files.walk(login().mount())) {
            owners = all.map(LoginHostIT::owner).collect(Collectors.toCollection(TreeSet::new));
        }

        assertEquals(Set.of(login().home().owner()), owners);
    }

    private static String owner(Path path) {
        return Command.run("stat", "-c", "%u:%g", path.toString()).strip();
    }

    @Test
    void theHostSeesTheHomesSize() {
        String blocks =
                Command.run("df", "-BM", "--output=size", login().mount().toString());

        assertEquals(
                HomeVolume.MEBIBYTES + "M", blocks.lines().toList().getLast().strip());
    }
}
