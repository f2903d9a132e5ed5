package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which jars the launcher chooses. Its runtime here only prints the classpath.
final class LauncherTest {
    @TempDir
    private Path home = Path.of("");

    @BeforeEach
    void layOut() throws IOException {
        Files.copy(
                Path.of("src/build/siphon"),
                Files.createDirectories(home.resolve("bin")).resolve("siphon"));
        Path lib = Files.createDirectories(home.resolve("lib"));
        for (String part : List.of("controller", "admin", "node", "packer", "cli")) {
            Files.writeString(lib.resolve(part + ".classpath"), "classpath=" + part + "\n");
        }
        Path java = Files.writeString(
                Files.createDirectories(home.resolve("runtime/bin")).resolve("java"),
                "#!/bin/sh\nwhile [ \"$1\" != -cp ]; do shift; done\necho \"$2\"\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
    }

    private String part(String... words) throws IOException, InterruptedException {
        Process launcher = new ProcessBuilder(
                        Stream.concat(Stream.of("sh", home.resolve("bin/siphon").toString()), Stream.of(words))
                                .toList())
                .redirectErrorStream(true)
                .start();
        String said = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, launcher.waitFor(), said);
        return said.strip();
    }

    @ParameterizedTest(name = "siphon whois {0}")
    @CsvSource({
        "/dev/loop3, node",
        "/dev/loop3 --json, node",
        "--json /dev/loop3, node",
        "--json /etc, node",
        "--json /no/such/path, admin",
        "--json /volumes/a/b, admin",
        "/datasets/x --json, admin",
        "--keyring /etc client.4305, admin",
        "client.4305, admin",
        "--json, admin",
        "whois, admin"
    })
    void whoisIsAskedOfTheNodeForWhatOnlyItKnows(String words, String part) throws Exception {
        assertEquals(
                part,
                part(Stream.concat(Stream.of("whois"), Stream.of(words.split(" ")))
                        .toArray(String[]::new)));
    }

    @Test
    void eachCommandHasItsPart() throws Exception {
        assertEquals("controller", part("controller"));
        assertEquals("node", part("check", "node"));
        assertEquals("packer", part("dataset", "pack", "/dev/loop3"));
        assertEquals("cli", part());
    }
}
