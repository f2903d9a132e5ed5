package dev.siphon.node;

import dev.siphon.node.linux.Programs;
import java.nio.file.Path;
import java.util.Objects;

/// Controls the network of the guest that runs the test (e2e/lab.d/guest). Commands reach the guest another way.
final class GuestNetwork {
    private static final String DEVICE = "vec0";

    private GuestNetwork() {}

    /// Disconnects the guest: the cluster no longer replies.
    static void unplug() {
        ip("link", "set", DEVICE, "down");
    }

    /// Reconnects the guest; does nothing if it is connected.
    static void plug() {
        ip("link", "set", DEVICE, "up");
        ip("route", "replace", "default", "via", environment("GUEST_GATEWAY"));
    }

    private static void ip(String... words) {
        String[] command = new String[words.length + 2];
        command[0] =
                Path.of(environment("SIPHON_LAB_DIR"), "guest/usr/bin/busybox").toString();
        command[1] = "ip";
        System.arraycopy(words, 0, command, 2, words.length);
        Programs.run(command);
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + ": the test runs in a guest only (e2e/lab guest)");
    }
}
