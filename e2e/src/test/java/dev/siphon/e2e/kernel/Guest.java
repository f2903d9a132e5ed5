package dev.siphon.e2e.kernel;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A guest of this lab: a node with its own kernel. It shares the lab's files except `/tmp`, `/run` and its own
/// mounts. See `e2e/lab.d/guest`.
///
/// @param number 1 to 9
record Guest(int number) {
    private static final String PROGRAM = "e2e/lab.d/guest";

    /// Boots the guest unless it runs.
    static Guest boot(int number) {
        Guest guest = new Guest(number);
        guest.control("start");
        return guest;
    }

    /// Runs a command in the guest; it must succeed.
    ///
    /// @return its output
    String run(String... words) {
        return Command.run(words("run", words));
    }

    /// Runs a command in the guest; it may fail.
    Command.Result attempt(String... words) {
        return Command.attempt(words("run", words));
    }

    /// Runs a script in the guest as account `uid`, without capabilities; `$1` is `path`.
    Command.Result as(int uid, Path path, String script) {
        String id = Integer.toString(uid);
        return attempt(
                "setpriv",
                "--reuid=" + id,
                "--regid=" + id,
                "--clear-groups",
                "sh",
                "-c",
                script,
                "sh",
                path.toString());
    }

    /// Starts a command in the guest that runs until its local process ends.
    Process start(Path log, String... words) {
        try {
            ProcessBuilder builder = new ProcessBuilder(words("run", words))
                    .redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().put("GUEST_LIMIT", "1200");
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Disconnects the network: nothing that the guest sends or should receive arrives.
    void unplug() {
        control("link", "down");
    }

    /// Reconnects the network.
    void plug() {
        control("link", "up");
    }

    /// Returns the address for commands and relays, reachable whatever the guest's network does.
    String console() {
        return Command.run(program(), "list")
                .lines()
                .filter(line -> line.startsWith("guest " + number + " "))
                .map(line -> line.replaceAll(".* console (\\S+).*", "$1"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("guest " + number + " does not run"));
    }

    private void control(String verb, String... more) {
        Command.run(words(verb, more));
    }

    private String[] words(String verb, String... more) {
        List<String> words = new ArrayList<>(List.of(program(), verb, Integer.toString(number)));
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }

    private static String program() {
        return Project.folder().resolve(PROGRAM).toString();
    }
}
