package dev.siphon.e2e.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs `siphon check node` on this machine.
@Timeout(180)
final class CheckNodeIT {
    @TempDir
    private Path folder = Path.of("");

    private Checked check(String... more) {
        List<String> words = new ArrayList<>(List.of(
                Project.launcher().toString(),
                "check",
                "node",
                "--node-id=node-a",
                "--state-dir=" + folder.resolve("state")));
        words.addAll(List.of(more));
        return Checked.run(words);
    }

    /// Returns whether the kernel has the file system now. The check made it load a module that exists.
    private static boolean kernelHas(String fileSystem) throws IOException {
        return Files.readAllLines(Path.of("/proc/filesystems")).stream()
                .anyMatch(line -> line.strip().endsWith(fileSystem));
    }

    @Test
    void itIsSaidWhatThisKernelHasAndWhatItTakes() throws IOException {
        Checked checked = check("--monitors=" + Lab.here().monitors(), "--mounter=kernel");
        for (String what : List.of("privileges", "state directory", "monitors")) {
            assertEquals("ok", checked.results().get(what), checked.output());
        }
        for (String what : List.of("kubelet registration", "pod resources", "ceph-fuse", "fuse supervisor")) {
            assertEquals("skipped", checked.results().get(what), checked.output());
        }
        if (kernelHas("ceph")) {
            assertEquals("ok", checked.results().get("kernel ceph"), checked.output());
        } else {
            checked.failed("kernel ceph", "no ceph file system", "CONFIG_CEPH_FS");
        }
        if (kernelHas("erofs")) {
            assertEquals("ok", checked.results().get("erofs"), checked.output());
        } else {
            // a warning if erofsfuse is installed
            assertTrue(List.of("failed", "warning").contains(checked.results().get("erofs")), checked.output());
            assertTrue(checked.output().contains("CONFIG_EROFS_FS"), checked.output());
        }
        assertFalse(Files.exists(folder.resolve("state")), "it changes nothing");
    }

    @Test
    void withCephFuseNoKernelIsNeeded() {
        Checked checked = check("--monitors=" + Lab.here().address() + ":1", "--mounter=fuse");
        assertEquals("skipped", checked.results().get("kernel ceph"), checked.output());
        assertEquals("ok", checked.results().get("ceph-fuse"), checked.output());
        checked.failed("monitors", Lab.here().address() + ":1", "firewalls");
    }

    @Test
    void aKubeletThatIsNotThere() throws IOException {
        Path registry = Files.createDirectory(folder.resolve("plugins_registry"));
        Checked checked = check("--kubelet-registration-dir=" + registry);
        assertEquals("ok", checked.results().get("kubelet registration"), checked.output());
        checked.failed(
                "pod resources", folder.resolve("pod-resources/kubelet.sock").toString(), "--pod-resources");
        check("--kubelet-registration-dir=" + folder.resolve("nowhere"))
                .failed("kubelet registration", "not a writable directory", "plugins_registry");
    }
}
