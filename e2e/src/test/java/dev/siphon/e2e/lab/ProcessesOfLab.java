package dev.siphon.e2e.lab;

import java.util.Arrays;
import java.util.List;

/// The processes of the lab that this process runs in, those of its containers included.
public final class ProcessesOfLab {
    private ProcessesOfLab() {}

    /// Ends at once (SIGKILL) those that have `argument` among theirs.
    ///
    /// @throws IllegalStateException if there is none
    public static void kill(String argument) {
        List<ProcessHandle> found = ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .map(arguments -> Arrays.asList(arguments).contains(argument))
                        .orElse(false))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalStateException("no process with " + argument);
        }
        found.forEach(ProcessHandle::destroyForcibly);
    }
}
