package dev.siphon.node.registration;

import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.UnixEndpoint;
import java.nio.file.Path;

/// The driver's data for the kubelet's plugin registration.
///
/// @param name the driver's name
/// @param socket the registration socket: `NAME-reg.sock` in the directory that the kubelet watches
/// @param endpoint the CSI socket, by the kubelet's path
public record KubeletPlugin(DriverName name, UnixEndpoint socket, Path endpoint) {
    /// Returns a driver that registers in `folder`, this process's path of the kubelet's `plugins_registry`.
    ///
    /// @throws IllegalArgumentException if `folder` is not absolute, or too long for a socket in it
    public static KubeletPlugin in(Path folder, DriverName name, Path endpoint) {
        return new KubeletPlugin(name, new UnixEndpoint(folder.resolve(name + "-reg.sock")), endpoint);
    }

    /// Returns the socket of the kubelet's PodResources API, beside its registration directory
    /// (`pkg/kubelet/config/defaults.go` of Kubernetes).
    public UnixEndpoint podResources() {
        return new UnixEndpoint(
                socket.path().resolveSibling("../pod-resources/kubelet.sock").normalize());
    }
}
