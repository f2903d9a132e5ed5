package dev.siphon.e2e.trace;

import dev.siphon.e2e.lab.Project;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.tools.ExecDumpClient;

/// JaCoCo's agent in a process of Siphon, which listens on a port.
final class CoverageAgent {
    private static final List<String> PARTS = List.of("controller", "node");

    private final InetSocketAddress address;

    CoverageAgent(InetSocketAddress address) {
        this.address = address;
    }

    /// Returns the JVM's option that starts the agent.
    static String option(InetSocketAddress address) {
        String jar = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(each -> each.contains("org.jacoco.agent") && each.endsWith("-runtime.jar"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("JaCoCo's agent is not on the class path"));
        return "-javaagent:" + jar + "=output=tcpserver,includes=dev.siphon.*,address="
                + address.getAddress().getHostAddress() + ",port=" + address.getPort();
    }

    /// Returns the lines that have run since the last time, or since the process started.
    Set<SourceLine> linesSinceLastTime() {
        ExecDumpClient client = new ExecDumpClient();
        client.setReset(true);
        try {
            return lines(client.dump(address.getAddress(), address.getPort()).getExecutionDataStore());
        } catch (IOException e) {
            throw new UncheckedIOException("the agent at " + address + " gives no answer", e);
        }
    }

    private static Set<SourceLine> lines(ExecutionDataStore ran) throws IOException {
        CoverageBuilder found = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(ran, found);
        try (URLClassLoader jars = jars()) {
            for (ExecutionData each : ran.getContents()) {
                try (InputStream bytes = jars.getResourceAsStream(each.getName() + ".class")) {
                    if (bytes == null) {
                        throw new IllegalStateException(each.getName() + " is not in the installation: make build");
                    }
                    analyzer.analyzeClass(bytes, each.getName());
                }
            }
        }
        if (!found.getNoMatchClasses().isEmpty()) {
            throw new IllegalStateException("the process runs other classes than the installation has: make build");
        }
        Set<SourceLine> lines = new HashSet<>();
        found.getClasses().forEach(each -> addCovered(each, lines));
        return lines;
    }

    private static URLClassLoader jars() throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String part : PARTS) {
            for (String jar : Project.classPath(part).split(File.pathSeparator, -1)) {
                urls.add(Path.of(jar).toUri().toURL());
            }
        }
        // without a parent: the class path of this process may have newer ones
        return new URLClassLoader(urls.toArray(URL[]::new), null);
    }

    private static void addCovered(IClassCoverage type, Set<SourceLine> lines) {
        for (int line = type.getFirstLine(); line <= type.getLastLine(); line++) {
            if (line > 0 && type.getLine(line).getInstructionCounter().getCoveredCount() > 0) {
                lines.add(new SourceLine(type.getPackageName() + "/" + type.getSourceFileName(), line));
            }
        }
    }
}
