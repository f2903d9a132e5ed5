package dev.siphon.e2e.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The call to Ceph at which a controller kills itself. The test writes the plan to a file and the controller reads
/// it.
///
/// @param number of the call since the plan was written, from 1; with 0 the controller only records its calls
record CrashPlan(int number, When when) {
    /// The plan's file in the controller's folder.
    static final String PLAN = "crash-plan";

    /// The file that records the calls since then.
    static final String CALLS = "crash-calls";

    private static final int SIGKILL = 9;

    /// Before or after the call.
    enum When {
        BEFORE,
        AFTER
    }

    /// Only records calls.
    static final CrashPlan NEVER = new CrashPlan(0, When.BEFORE);

    static CrashPlan parse(String text) {
        String[] parts = text.strip().split(" ", -1);
        return new CrashPlan(Integer.parseInt(parts[0]), When.valueOf(parts[1]));
    }

    /// Writes this plan for the controller of `folder`.
    void lay(Path folder) {
        try {
            Files.deleteIfExists(folder.resolve(CALLS));
            Path aside = folder.resolve(PLAN + ".new");
            Files.writeString(aside, number + " " + when);
            Files.move(aside, folder.resolve(PLAN), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes the plan.
    ///
    /// @return the calls that were recorded under it
    static List<String> lift(Path folder) {
        try {
            Files.deleteIfExists(folder.resolve(PLAN));
            Path calls = folder.resolve(CALLS);
            return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Kills this process with SIGKILL if call `current` is the planned one; 0 never matches.
    void endIf(int current, When side) {
        if (current > 0 && current == number && side == when) {
            kill();
        }
    }

    @SuppressWarnings("restricted") // the JDK does not let a process kill itself
    private static void kill() {
        Linker linker = Linker.nativeLinker();
        MethodHandle kill = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("kill"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            var _ = (int) kill.invokeExact((int) ProcessHandle.current().pid(), SIGKILL);
        } catch (Throwable e) {
            throw new LinkageError("kill(2)", e);
        }
    }
}
