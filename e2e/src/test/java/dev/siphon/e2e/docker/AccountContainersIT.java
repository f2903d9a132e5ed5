package dev.siphon.e2e.docker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.containers.EngineContainer;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.images.builder.ImageFromDockerfile;

/// Containers on two accounts' homes: started by `siphon-docker`, or directly at the engine.
@Tag("containers")
final class AccountContainersIT {
    private static final int STRANGER = 4711;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static Map<String, HomeVolume> homes = Map.of();
    private static Optional<Path> mounted = Optional.empty();

    @BeforeAll
    static void makeHomes() {
        homes = Map.of("u1", HomeVolume.create("u1"), "u2", HomeVolume.create("u2"));
        mounted = Optional.of(home("u1").attach());
    }

    @AfterAll
    static void removeHomes() {
        homes.values().forEach(HomeVolume::close);
    }

    private static HomeVolume home(String account) {
        return Optional.ofNullable(homes.get(account)).orElseThrow();
    }

    /// Returns the mount point of u1's home on this host.
    private static Path folder() {
        return mounted.orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"u1, 10001:10001", "u2, 10002:10002"})
    void aContainerRunsAndWritesAsItsAccount(String account, String owner) {
        String said =
                home(account).run("tiny", "sh", "-c", "touch file && echo $(id -u):$(id -g) $(stat -c %u:%g file)");

        assertEquals(owner + " " + owner + "\n", said);
    }

    @Test
    void aContainerRunsAsItsAccountWhateverUserTheImageNames() {
        String image = new ImageFromDockerfile("tiny-as-4711:lab", false)
                .withDockerfileFromBuilder(
                        file -> file.from("tiny").user("4711:4711").build())
                .get();

        assertEquals("10001\n", home("u1").run(image, "id", "-u"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--user=0", "--cap-add=ALL", "--privileged", "--volume=/:/host"})
    void anOptionThatMakesAContainerMoreThanItsAccountIsRefused(String option) {
        Command.Result refused = home("u1").tryRun(option, "tiny", "id");

        assertNotEquals(0, refused.exit());
        assertTrue(refused.output().contains("option " + option + " is not allowed"), refused::output);
    }

    @Test
    void anotherAccountsKeyDoesNotOpenAHome() {
        Command.Result refused = home("u1").attachWith(home("u2").key());

        assertNotEquals(0, refused.exit());
        assertTrue(refused.output().toLowerCase(Locale.ROOT).contains("permission_denied"), refused::output);
    }

    @Test
    void aForeignUidCannotWriteAroundTheScript() {
        assertDenied(as(STRANGER, "touch", "foreign"));
    }

    @Test
    void anotherAccountsUidCannotReadAroundTheScript() {
        ExecResult written = as(home("u1").uid(), "touch", "hello");

        assertEquals(0, written.getExitCode(), written::getStderr);
        assertDenied(as(home("u2").uid(), "cat", "hello"));
    }

    /// ceph-fuse cannot map uids. Only root on this host can have the engine run such a container.
    @Test
    void whatRootWritesAroundTheScriptIsRoots() throws IOException {
        Path file = folder().resolve("by-root");

        ExecResult written = as(0, "touch", "by-root");

        assertEquals(0, written.getExitCode(), written::getStderr);
        assertEquals(0, Files.getAttribute(file, "unix:uid"));
        assertEquals(0, Files.getAttribute(file, "unix:gid"));
        Files.delete(file);
    }

    private static void assertDenied(ExecResult result) {
        assertNotEquals(0, result.getExitCode());
        assertTrue(result.getStderr().contains("Permission denied"), result::getStderr);
    }

    /// Runs a program on a file of u1's home as `uid`, in a container started directly at the engine.
    private static ExecResult as(int uid, String program, String name) {
        try (EngineContainer container =
                new EngineContainer("tiny").as(uid).writing(folder()).withCommand("sleep", "infinity")) {
            container.start();
            return container.attempt(LIMIT, program, folder().resolve(name).toString());
        }
    }
}
