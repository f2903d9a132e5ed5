package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `deploy/version` in checkouts of real git repositories.
final class VersionTest {
    private static final String POM = "<project>\n  <version>0.1.0</version>\n</project>\n";

    /// So that no configuration or hook of this machine's user counts, and commits have an author.
    private static final Map<String, String> GIT = Map.of(
            "GIT_CONFIG_GLOBAL", "/dev/null",
            "GIT_CONFIG_SYSTEM", "/dev/null",
            "GIT_AUTHOR_NAME", "a",
            "GIT_AUTHOR_EMAIL", "a@example.org",
            "GIT_COMMITTER_NAME", "a",
            "GIT_COMMITTER_EMAIL", "a@example.org");

    @TempDir
    private Path temporary;

    private Path checkout = Path.of("");

    @BeforeEach
    void twoCommits() throws IOException {
        checkout = temporary.toRealPath();
        Files.writeString(checkout.resolve("pom.xml"), POM);
        git("init", "--quiet");
        git("add", "pom.xml");
        commit();
        commit();
    }

    @Test
    void withoutATagItIsADevVersionOfThePoms() {
        assertEquals("0.1.0-dev.2.g" + commitId(), version());
    }

    @ParameterizedTest
    @CsvSource({
        // tag, its version, and that of a change two commits later
        "v0.1.0, 0.1.0, 0.1.1-dev.2.",
        "v0.9.9, 0.9.9, 0.9.10-dev.2.",
        "v10.20.30, 10.20.30, 10.20.31-dev.2.",
        "v0.2.0-rc.1, 0.2.0-rc.1, 0.2.0-rc.1.dev.2.",
    })
    void aTagDecides(String tag, String released, String later) {
        git("tag", tag);
        assertEquals(released, version());
        commit();
        commit();
        assertEquals(later + "g" + commitId(), version());
    }

    @Test
    void ofSeveralTagsTheReleaseCountsAndNotItsCandidates() {
        git("tag", "v0.2.0");
        git("tag", "--annotate", "--message", "the second candidate", "v0.2.0-rc.2");
        git("tag", "v0.1.9");
        assertEquals("0.2.0", version());
    }

    @Test
    void theNearestTagCountsAndNotTheHighest() {
        git("tag", "v3.0.0");
        commit();
        git("tag", "v2.0.1");
        assertEquals("2.0.1", version());
    }

    @Test
    void tagsOfOtherFormsCountForNothing() {
        git("tag", "0.5.0");
        git("tag", "before-the-move");
        assertEquals("0.1.0-dev.2.g" + commitId(), version());
    }

    @Test
    void aTagThatLooksLikeAVersionAndIsNoneIsRefused() {
        git("tag", "v1.2.3+4");
        Run refused = run("bash", script(), checkout.toString());
        assertEquals(1, refused.status());
        assertTrue(refused.output().contains("tag v1.2.3+4 is no version"), refused::output);
    }

    @Test
    void aChangedFileMakesItADevVersion() throws IOException {
        git("tag", "v0.1.0");
        Files.writeString(checkout.resolve("pom.xml"), POM + "\n");
        assertEquals("0.1.1-dev.0.g" + commitId() + ".dirty", version());
    }

    @Test
    void soDoesAFileThatGitDoesNotKnow() throws IOException {
        git("tag", "v0.1.0");
        Files.writeString(checkout.resolve("New.java"), "");
        assertEquals("0.1.1-dev.0.g" + commitId() + ".dirty", version());
    }

    @Test
    void andNoneThatGitIgnores() throws IOException {
        Files.writeString(checkout.resolve(".gitignore"), "target/\n");
        git("add", ".gitignore");
        commit();
        git("tag", "v0.1.0");
        Files.writeString(Files.createDirectory(checkout.resolve("target")).resolve("a.class"), "");
        assertEquals("0.1.0", version());
    }

    @Test
    void aSourceArchiveWithinAnotherCheckoutHasNoCommit() throws IOException {
        git("tag", "v7.0.0");
        Path archive = Files.createDirectory(checkout.resolve("unpacked"));
        Files.writeString(archive.resolve("pom.xml"), POM);
        assertEquals("0.1.0-dev", succeed("bash", script(), archive.toString()).strip());
        assertEquals(
                "version=0.1.0-dev\nrevision=unknown\n", succeed("bash", script(), "properties", archive.toString()));
    }

    @Test
    void thePropertiesHaveTheCommitToo() {
        git("tag", "v0.1.0");
        assertEquals(
                "version=0.1.0\nrevision=" + commitId() + "\n",
                succeed("bash", script(), "properties", checkout.toString()));
    }

    private record Run(int status, String output) {}

    private String version() {
        return succeed("bash", script(), checkout.toString()).strip();
    }

    private String commitId() {
        return git("rev-parse", "HEAD").substring(0, 12);
    }

    private void commit() {
        git("commit", "--quiet", "--allow-empty", "--message", "a change");
    }

    private String git(String... words) {
        return succeed(Stream.concat(Stream.of("git", "-C", checkout.toString()), Stream.of(words))
                .toArray(String[]::new));
    }

    private static String script() {
        return Path.of("version").toAbsolutePath().toString();
    }

    private static String succeed(String... command) {
        Run run = run(command);
        assertEquals(0, run.status(), () -> List.of(command) + ": " + run.output());
        return run.output();
    }

    private static Run run(String... command) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(GIT);
            Process process = builder.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "did not end");
            return new Run(process.exitValue(), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
