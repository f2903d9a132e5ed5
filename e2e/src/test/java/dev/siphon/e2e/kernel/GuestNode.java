package dev.siphon.e2e.kernel;

import csi.v1.ProbeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// `siphon node` in a guest, with a kubelet's calls. Relays connect a local socket to the one in the guest.
final class GuestNode implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(40);
    private static final Path THERE = Path.of("/run/siphon-node");
    private static final Path PID = Path.of("/run/siphon-node/pid");
    private static final int PORT = 2300;

    private final Guest guest;
    private final Path log;
    private final List<Process> processes = new ArrayList<>();
    private final String[] command;
    private final CsiClient client;
    private final NodeMounts mounts;

    private GuestNode(Guest guest, Path folder, String... flags) {
        this.guest = guest;
        this.log = folder.resolve("guest" + guest.number() + ".log");
        Path here = folder.resolve("guest" + guest.number() + ".sock");
        Path there = THERE.resolve("csi.sock");
        String relay = Project.folder().resolve("e2e/lab.d/relay").toString();
        String tcp = guest.console() + ":" + PORT;
        guest.run("mkdir", "-p", THERE.resolve("state").toString());
        this.command = command(guest, flags);
        processes.add(guest.start(log, command));
        processes.add(guest.start(log, relay, tcp, there.toString()));
        processes.add(startHere(relay, here.toString(), tcp));
        this.client = CsiClient.to(UnixEndpoint.parse("unix://" + here));
        this.mounts = new NodeMounts(
                client,
                THERE.resolve("kubelet"),
                Lab.here().nodeStageSecrets(),
                path -> guest.run("mkdir", "-p", "" + path));
    }

    private static String[] command(Guest guest, String... flags) {
        List<String> command = new ArrayList<>(List.of(
                "sh",
                "-c",
                "echo $$ >\"$1\"; shift; exec env -u CEPH_CONF -u CEPH_KEYRING \"$@\"",
                "sh",
                PID.toString(),
                Project.launcher().toString(),
                "node",
                "--endpoint=unix://" + THERE.resolve("csi.sock"),
                "--node-id=guest" + guest.number(),
                "--state-dir=" + THERE.resolve("state")));
        command.addAll(List.of(flags));
        return command.toArray(String[]::new);
    }

    /// Boots the guest unless it runs, starts the node there, and waits until it is ready.
    ///
    /// @param folder for its log and its socket
    static GuestNode start(int number, Path folder, String... flags) {
        GuestNode node = new GuestNode(Guest.boot(number), folder, flags);
        node.awaitReady();
        return node;
    }

    private void awaitReady() {
        Await.until("the node of guest " + guest.number() + " is ready, see " + log, START_LIMIT, this::isReady);
    }

    private boolean isReady() {
        return Outcome.of(
                        () -> client.within(Duration.ofSeconds(5)).identity().probe(ProbeRequest.getDefaultInstance()))
                .response()
                .filter(answer -> answer.getReady().getValue())
                .isPresent();
    }

    /// Kills the node with SIGKILL, as the kernel does when out of memory, and starts it again.
    void killAndStart() {
        guest.run("sh", "-c", "kill -KILL $(cat \"$1\")", "sh", PID.toString());
        Await.until("the node is gone", START_LIMIT, () -> !isReady());
        processes.add(guest.start(log, command));
        awaitReady();
    }

    private Process startHere(String... words) {
        try {
            return new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Guest guest() {
        return guest;
    }

    CsiClient client() {
        return client;
    }

    NodeMounts mounts() {
        return mounts;
    }

    /// Stages and publishes a volume for one pod.
    ///
    /// @return the target path in the guest
    Path mount(Volume volume, VolumeCapability capability) {
        return mounts.mount(volume, capability);
    }

    /// Returns the CephFS lines of the guest's mount table.
    List<String> cephMounts() {
        return guest.run("cat", "/proc/self/mountinfo")
                .lines()
                .filter(line -> line.contains(" - ceph "))
                .toList();
    }

    @Override
    public void close() {
        try (client) {
            mounts.close();
        } finally {
            processes.forEach(Process::destroy);
            processes.forEach(GuestNode::awaitEnd);
        }
    }

    private static void awaitEnd(Process process) {
        try {
            if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
