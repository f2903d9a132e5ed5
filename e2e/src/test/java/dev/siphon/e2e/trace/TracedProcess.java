package dev.siphon.e2e.trace;

import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Project;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A process of Siphon with JaCoCo's agent, and a client of its socket. The launcher's runtime has no module for
/// agents, so the JDK runs the same jars.
record TracedProcess(String name, ServedProcess process, CsiClient client, CoverageAgent agent)
        implements AutoCloseable {
    /// Starts a controller and waits until it is ready.
    static TracedProcess controller(DriverFolder folder) {
        int port = DriverFolder.freePort();
        return start(folder, "controller", port, folder.controllerFlags(port));
    }

    /// Starts a node and waits until it is ready.
    static TracedProcess node(DriverFolder folder, String... more) {
        int port = DriverFolder.freePort();
        return start(folder, "node", port, folder.nodeFlags("node", port, more));
    }

    private static TracedProcess start(DriverFolder folder, String part, int opsPort, List<String> flags) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), DriverFolder.freePort());
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                CoverageAgent.option(address),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                Project.classPath(part),
                "dev.siphon.cli.SiphonMain",
                part));
        words.addAll(flags);
        ServedProcess process =
                ServedProcess.start(words, folder.endpoint(part + ".sock"), opsPort, folder.file(part + ".log"));
        return new TracedProcess(
                part, process.awaitReady(), CsiClient.to(process.endpoint()), new CoverageAgent(address));
    }

    /// Returns the agent under the name of the process.
    Map<String, CoverageAgent> agents() {
        return Map.of(name, agent);
    }

    @Override
    public void close() {
        client.close();
        process.close();
    }
}
