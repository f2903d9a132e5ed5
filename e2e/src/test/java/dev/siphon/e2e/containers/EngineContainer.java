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

/// A container that has what it is given and nothing else: no network but its own loopback device, and files of
/// this host at their own paths. The engine runs on this host.
public final class EngineContainer extends GenericContainer<EngineContainer> {
    private static final String FUSE = "/dev/fuse";

    private final List<Mount> mounts = new ArrayList<>();

    public EngineContainer(String image) {
        super(DockerImageName.parse(image));
        withNetworkMode("none");
        withCreateContainerCmdModifier(
                command -> Objects.requireNonNull(command.getHostConfig()).withMounts(mounts));
    }

    /// It may read a file or folder.
    EngineContainer reading(Path path) {
        return mounting(path, BindPropagation.R_PRIVATE, true);
    }

    /// It may write a folder.
    public EngineContainer writing(Path path) {
        return mounting(path, BindPropagation.R_PRIVATE, false);
    }

    /// It may write a folder, and what it mounts there is mounted on this host too, as with a pod's
    /// `mountPropagation: Bidirectional`.
    EngineContainer mountingIn(Path path) {
        return mounting(path, BindPropagation.R_SHARED, false);
    }

    /// It may write a folder, and sees what is mounted there later.
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

    /// It is in the network of another one, which runs.
    EngineContainer inNetworkOf(EngineContainer other) {
        return withNetworkMode("container:" + other.getContainerId());
    }

    /// It cannot write its own root, but has a `/tmp` and a `/run`, as the pods of `deploy/` do.
    EngineContainer withReadOnlyRoot() {
        // the JVM unpacks the library there by which it calls others
        return withTmpFs(Map.of("/tmp", "exec,mode=1777", "/run", "mode=755"))
                .withCreateContainerCmdModifier(command ->
                        Objects.requireNonNull(command.getHostConfig()).withReadonlyRootfs(true));
    }

    /// It runs as this user, with what the engine lets such a user do.
    public EngineContainer as(int uid) {
        return withCreateContainerCmdModifier(command -> command.withUser(uid + ":" + uid));
    }

    /// It runs as this user and may nothing that root may.
    EngineContainer confinedTo(int uid) {
        return withCreateContainerCmdModifier(command -> Objects.requireNonNull(
                        command.withUser(uid + ":" + uid).getHostConfig())
                .withCapDrop(Capability.ALL)
                .withSecurityOpts(List.of("no-new-privileges")));
    }

    /// It runs as root and may mount, by the kernel or by FUSE. A pod has to be privileged for its mounts to reach
    /// the node's other pods; an engine lets a container do so that has this one capability.
    EngineContainer thatMounts() {
        return withCreateContainerCmdModifier(command -> Objects.requireNonNull(command.getHostConfig())
                .withCapAdd(Capability.SYS_ADMIN)
                .withDevices(new Device("rwm", FUSE, FUSE))
                // the engine's own lists refuse mount(2), or some of its newer kin
                .withSecurityOpts(List.of("apparmor=unconfined", "seccomp=unconfined")));
    }

    /// Runs a command in it that must succeed.
    ///
    /// @return its stdout
    /// @throws IllegalStateException if it fails, or takes longer than a minute
    String run(String... words) {
        ExecResult result = attempt(Duration.ofMinutes(1), words);
        if (result.getExitCode() != 0) {
            throw new IllegalStateException(
                    String.join(" ", words) + " ended with " + result.getExitCode() + ": " + result.getStderr());
        }
        return result.getStdout();
    }

    /// Runs a command in it that may fail; 124 says that it took longer than `limit`.
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
