package dev.siphon.e2e.containers;

import com.github.dockerjava.api.model.BindOptions;
import com.github.dockerjava.api.model.BindPropagation;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.Device;
import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/// A container with only what it is given: no network but its own loopback device, and files of this host under
/// their own paths. The engine runs on this host.
public final class EngineContainer extends GenericContainer<EngineContainer> {
    private static final String FUSE = "/dev/fuse";

    private final List<Mount> mounts = new ArrayList<>();

    public EngineContainer(String image) {
        super(DockerImageName.parse(image));
        withNetworkMode("none");
        withCreateContainerCmdModifier(
                command -> Objects.requireNonNull(command.getHostConfig()).withMounts(mounts));
    }

    /// Lets it read a file or folder.
    EngineContainer reading(Path path) {
        return mounting(path, BindPropagation.R_PRIVATE, true);
    }

    /// Lets it write a folder.
    public EngineContainer writing(Path path) {
        return mounting(path, BindPropagation.R_PRIVATE, false);
    }

    /// Lets it write a folder. What it mounts there is mounted on this host too, as with a pod's `mountPropagation:
    /// Bidirectional`.
    EngineContainer mountingIn(Path path) {
        return mounting(path, BindPropagation.R_SHARED, false);
    }

    /// Lets it write a folder and see later mounts there.
    EngineContainer watching(Path path) {
        return mounting(path, BindPropagation.R_SLAVE, false);
    }

    private EngineContainer mounting(Path path, BindPropagation propagation, boolean readOnly) {
        mounts.add(new Mount()
                .withType(MountType.BIND)
                .withSource(path.toString())
                .withTarget(path.toString())
                .withReadOnly(readOnly)
                .withBindOptions(new BindOptions().withPropagation(propagation)));
        return this;
    }

    /// Puts it into the network of another, running container.
    EngineContainer inNetworkOf(EngineContainer other) {
        return withNetworkMode("container:" + other.getContainerId());
    }

    /// Makes its root read-only, with a writable `/tmp` and `/run`, as in the pods of `deploy/`.
    EngineContainer withReadOnlyRoot() {
        // the JVM unpacks its library for native calls there
        return withTmpFs(Map.of("/tmp", "exec,mode=1777", "/run", "mode=755"))
                .withCreateContainerCmdModifier(command ->
                        Objects.requireNonNull(command.getHostConfig()).withReadonlyRootfs(true));
    }

    /// Runs it as this user, with the rights that the engine grants by default.
    public EngineContainer as(int uid) {
        return withCreateContainerCmdModifier(command -> command.withUser(uid + ":" + uid));
    }

    /// Runs it as this user, without capabilities or new privileges.
    EngineContainer confinedTo(int uid) {
        return withCreateContainerCmdModifier(command -> Objects.requireNonNull(
                        command.withUser(uid + ":" + uid).getHostConfig())
                .withCapDrop(Capability.ALL)
                .withSecurityOpts(List.of("no-new-privileges")));
    }

    /// Runs it as root with the right to mount, by the kernel or by FUSE. A pod must be privileged to propagate its
    /// mounts to the node's other pods; with an engine this one capability suffices.
    EngineContainer thatMounts() {
        return withCreateContainerCmdModifier(command -> Objects.requireNonNull(command.getHostConfig())
                .withCapAdd(Capability.SYS_ADMIN)
                .withDevices(new Device("rwm", FUSE, FUSE))
                // the engine's own profiles refuse mount(2) or newer calls like it
                .withSecurityOpts(List.of("apparmor=unconfined", "seccomp=unconfined")));
    }

    /// Runs a command in the container; it must succeed.
    ///
    /// @return its stdout
    /// @throws IllegalStateException if it fails or takes longer than a minute
    String run(String... words) {
        ExecResult result = attempt(Duration.ofMinutes(1), words);
        if (result.getExitCode() != 0) {
            throw new IllegalStateException(
                    String.join(" ", words) + " ended with " + result.getExitCode() + ": " + result.getStderr());
        }
        return result.getStdout();
    }

    /// Runs a command in the container; it may fail. Exit status 124 means that it exceeded `limit`.
    public ExecResult attempt(Duration limit, String... words) {
        try {
            return execInContainer(Stream.concat(Stream.of("timeout", limit.toSeconds() + "s"), Stream.of(words))
                    .toArray(String[]::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
