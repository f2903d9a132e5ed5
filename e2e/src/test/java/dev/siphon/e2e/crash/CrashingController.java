package dev.siphon.e2e.crash;

import dev.siphon.controller.ControllerConfig;
import dev.siphon.controller.ControllerMain;
import dev.siphon.controller.ControllerOptions;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Project;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.event.Level;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// The real controller, which kills itself at the call in a [CrashPlan].
@Command(name = "crashing-controller")
public final class CrashingController implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private ControllerOptions options = new ControllerOptions();

    @Option(names = "--crash-folder", required = true)
    private Path folder = Path.of("");

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new CrashingController()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        ControllerConfig config = options.read(command);
        JsonLogging.start(Level.INFO);
        return ControllerMain.start(config, ports -> CrashPoints.around(ports, folder))
                .await(config);
    }

    /// Starts a controller and waits until it serves. It uses the launcher's runtime and AOT cache, so a start
    /// costs a third of a second.
    static ServedProcess start(DriverFolder folder) {
        Path home = Project.installation();
        int port = DriverFolder.freePort();
        List<String> words = new ArrayList<>(List.of(
                home.resolve("runtime/bin/java").toString(),
                "-XX:AOTCache=" + home.resolve("lib/controller.aot"),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseCompactObjectHeaders",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                Project.classPath("controller") + ":" + Project.folder().resolve("e2e/target/test-classes"),
                CrashingController.class.getName(),
                "--crash-folder=" + folder.file("")));
        words.addAll(folder.controllerFlags(port));
        return ServedProcess.start(words, folder.endpoint("controller.sock"), port, folder.file("controller.log"))
                .awaitServing();
    }
}
