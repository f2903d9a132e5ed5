package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/// An account's directory in which an attacker's client, with one of its keys, never releases capabilities; and the
/// mgr, which waits for them in the MDS.
final class HeldGroup implements AutoCloseable {
    private static final String MADE = "waits";
    private static final Duration WAITS_WITHIN = Duration.ofSeconds(20);

    private final String group;
    private final KeyHolder.Mounted held;
    private final CompletableFuture<Command.Result> waiting;

    private HeldGroup(String group, KeyHolder.Mounted held) {
        this.group = group;
        this.held = held;
        this.waiting = CompletableFuture.supplyAsync(() -> subvolume("create"));
    }

    /// Lists everything and waits until the mgr blocks.
    static HeldGroup by(KeyHolder thief, String group) throws IOException, KeyHolder.Refused {
        HeldGroup it =
                new HeldGroup(group, look(thief.mount("/volumes/" + group, "--client_inject_release_failure=true")));
        Await.until(
                "the mgr waits",
                WAITS_WITHIN,
                () -> KeyHolder.admin()
                        .tool("ceph", "tell", "mds.a", "ops")
                        .output()
                        .contains("waiting"));
        return it;
    }

    private static KeyHolder.Mounted look(KeyHolder.Mounted mounted) throws IOException {
        try (Stream<Path> all = Files.list(mounted.root())) {
            all.forEach(each -> assertTrue(Files.isDirectory(each)));
        }
        return mounted;
    }

    /// Returns whether the mgr still waits.
    boolean isHeld() {
        return !waiting.isDone();
    }

    private Command.Result subvolume(String verb) {
        return KeyHolder.admin()
                .tool("ceph", "fs", "subvolume", verb, Lab.here().fileSystem(), MADE, "--group_name", group);
    }

    @Override
    public void close() {
        held.close();
        Command.Result made = waiting.join();
        assertEquals(0, made.exit(), made.output());
        subvolume("rm");
    }
}
