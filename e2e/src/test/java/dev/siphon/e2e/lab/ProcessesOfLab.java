package dev.siphon.e2e.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The processes of this process's lab, including those of its containers.
public final class ProcessesOfLab {
    private ProcessesOfLab() {}

    /// Kills every process with `argument` on its command line (SIGKILL).
    ///
    /// @throws IllegalStateException if there is none
    public static void kill(String argument) {
        List<ProcessHandle> found = ProcessHandle.allProcesses()
                .filter(process -> arguments(process.pid()).contains(argument))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalStateException("no process with " + argument);
        }
        found.forEach(ProcessHandle::destroyForcibly);
    }

    /// Reads `/proc`, because [ProcessHandle#info] has no arguments if they exceed a page. Returns none for a
    /// process that has ended.
    private static List<String> arguments(long pid) {
        try {
            return List.of(
                    Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.ISO_8859_1)
                            .split("\0"));
        } catch (IOException _) {
            return List.of();
        }
    }
}
