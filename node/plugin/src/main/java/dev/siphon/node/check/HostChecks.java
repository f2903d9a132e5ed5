package dev.siphon.node.check;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.registration.KubeletPlugin;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/// Checks the node process's host: its state directory, the kubelet, and the supervisor of FUSE processes.
///
/// @param stateDirectory the process's state directory
/// @param registration the data for the kubelet; empty without a kubelet, or if another process registers the
///     driver
/// @param podResources the socket of the kubelet's PodResources API; empty if it is not queried
/// @param supervisor the socket of `siphon fuse`; empty if the node process runs ceph-fuse itself
public record HostChecks(
        Path stateDirectory,
        Optional<KubeletPlugin> registration,
        Optional<UnixEndpoint> podResources,
        Optional<UnixEndpoint> supervisor) {
    private static final String NO_KUBELET = "--kubelet-registration-dir is not given";
    private static final String PRIVATE = "rwx------";
    private static final int ROOT = 0;

    /// Runs all checks.
    public void run(Checklist list) {
        var _ = list.check(
                "state directory",
                _ -> "choose another one with --state-dir",
                () -> state(stateDirectory),
                found -> found);
        supervisor
                .map(UnixEndpoint::path)
                .ifPresentOrElse(
                        socket -> answers(
                                list,
                                "fuse supervisor",
                                socket,
                                "start `siphon fuse` there, which the chart's DaemonSet siphon-fuse does: without it no"
                                        + " FUSE mount is made"),
                        () -> list.note("fuse supervisor", new CheckOutcome.Skipped("--fuse-socket is not given")));
        list.note(
                "kubelet registration",
                registration
                        .map(plugin -> registration(plugin.socket().path()))
                        .orElseGet(() -> new CheckOutcome.Skipped(NO_KUBELET)));
        if (podResources.isEmpty()) {
            list.note("pod resources", new CheckOutcome.Skipped(NO_KUBELET));
            return;
        }
        answers(
                list,
                "pod resources",
                podResources.get().path(),
                "the kubelet creates that socket on the host: in a container, mount its directory, and pass it with"
                        + " --pod-resources");
    }

    private static void answers(Checklist list, String what, Path socket, String remedy) {
        var _ = list.check(what, _ -> remedy, () -> connects(socket), CheckOutcome.Ok::new);
    }

    /// Checks the state directory. The node process creates it with mode 0700, and sets this mode again at each
    /// start.
    private static CheckOutcome state(Path directory) {
        try {
            if (!Files.exists(directory)) {
                Path parent = directory;
                while (!Files.exists(parent)) {
                    parent = Optional.ofNullable(parent.getParent()).orElse(Path.of("/"));
                }
                return Files.isWritable(parent)
                        ? new CheckOutcome.Ok(directory + " is made at the first start")
                        : new CheckOutcome.Failed(
                                parent + " is not writable", "run it as root, or mount a writable directory");
            }
            int owner = (Integer) Files.getAttribute(directory, "unix:uid");
            String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(directory));
            return judge(directory, owner, mode, Files.isDirectory(directory) && Files.isWritable(directory));
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable(directory + " cannot be read: " + e, e);
        }
    }

    /// @param mode in the notation of `ls`
    static CheckOutcome judge(Path directory, int owner, String mode, boolean usable) {
        if (!usable) {
            return new CheckOutcome.Failed(
                    directory + " is not a writable directory", "run it as root, or mount a writable directory");
        }
        return owner == ROOT && mode.equals(PRIVATE)
                ? new CheckOutcome.Ok(directory + ", root's alone")
                : new CheckOutcome.Failed(
                        directory + " belongs to uid " + owner + " with mode " + mode,
                        "`chown root " + directory + " && chmod 0700 " + directory
                                + "`: it exposes more than one volume");
    }

    private static CheckOutcome registration(Path socket) {
        Path folder = Optional.ofNullable(socket.getParent()).orElse(socket);
        if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
            return new CheckOutcome.Failed(
                    folder + " is not a writable directory",
                    "use the kubelet's plugins_registry (below its --root-dir); in a container, mount it from"
                            + " the host");
        }
        return new CheckOutcome.Ok(
                Files.exists(socket, LinkOption.NOFOLLOW_LINKS)
                        ? socket + " is there"
                        : folder + ", without the driver's socket yet");
    }

    private static String connects(Path socket) {
        try (SocketChannel _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return socket + " answers";
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable(socket + ": " + e.getMessage(), e);
        }
    }
}
