package dev.siphon.node.registration;

import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.UnixEndpoint;
import java.nio.file.Path;

/// What the kubelet is told of this driver, and where.
///
/// @param name the driver's
/// @param socket where the kubelet is answered: `NAME-reg.sock` in the folder that it watches
/// @param endpoint the CSI socket, as the kubelet sees it
public record KubeletPlugin(DriverName name, UnixEndpoint socket, Path endpoint) {
    /// A driver that registers in `folder`, the kubelet's `plugins_registry` as this process sees it.
    ///
    /// @throws IllegalArgumentException if `folder` is not absolute, or too long for a socket in it
    public static KubeletPlugin in(Path folder, DriverName name, Path endpoint) {
        return new KubeletPlugin(name, new UnixEndpoint(folder.resolve(name + "-reg.sock")), endpoint);
    }

    /// Where that kubelet says which devices pods hold: beside its folder for registrations
    /// (`pkg/kubelet/config/defaults.go` of Kubernetes).
    public UnixEndpoint podResources() {
        return new UnixEndpoint(
                socket.path().resolveSibling("../pod-resources/kubelet.sock").normalize());
    }
}
