package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// `kubectl siphon`, as kubectl finds it in PATH.
///
/// @param folder has a `kubectl` for the lab's cluster, and may take files
record KubectlSiphon(Path folder) {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    static KubectlSiphon in(Path folder) {
        String lab = Project.folder().resolve("e2e/lab").toString();
        try {
            Path kubectl =
                    Files.writeString(folder.resolve("kubectl"), "#!/bin/sh\nexec '" + lab + "' kubectl \"$@\"\n");
            if (!kubectl.toFile().setExecutable(true)) {
                throw new IllegalStateException(kubectl + " cannot be made executable");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new KubectlSiphon(folder);
    }

    /// Runs `kubectl siphon` with these words.
    Command.Result run(String... words) {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "PATH=" + folder + ":" + Project.folder().resolve("deploy") + ":" + System.getenv("PATH"),
                "SIPHON_STEP_SECONDS=40",
                folder.resolve("kubectl").toString(),
                "siphon"));
        command.addAll(List.of(words));
        return Command.attempt(LIMIT, command);
    }

    /// A file of a bundle.
    record BundleFile(String name, String content) {}

    /// Writes a bundle and unpacks it.
    List<BundleFile> debug(String name) {
        Path bundle = folder.resolve(name + ".tar.gz");
        Command.Result made = run("debug", bundle.toString());
        if (made.exit() != 0) {
            throw new AssertionError(made.output());
        }
        Path unpacked = folder.resolve(name);
        try {
            Files.createDirectory(unpacked);
            Command.run("tar", "-xzf", bundle.toString(), "-C", unpacked.toString(), "--strip-components=1");
            try (Stream<Path> all = Files.walk(unpacked)) {
                return all.filter(Files::isRegularFile)
                        .map(file -> new BundleFile(unpacked.relativize(file).toString(), read(file)))
                        .collect(Collectors.toList());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
