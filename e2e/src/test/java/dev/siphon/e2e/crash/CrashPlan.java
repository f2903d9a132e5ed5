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

/// At which call to Ceph a controller is to end itself, as a file that the test writes and the controller reads.
///
/// @param number of the call since the plan was laid, from 1; 0 for none: the calls are only written down
record CrashPlan(int number, When when) {
    /// The plan's file in the controller's folder.
    static final String PLAN = "crash-plan";

    /// The file of the calls that were made since.
    static final String CALLS = "crash-calls";

    private static final int SIGKILL = 9;

    /// On which side of the call.
    enum When {
        BEFORE,
        AFTER
    }

    /// Only to write calls down.
    static final CrashPlan NEVER = new CrashPlan(0, When.BEFORE);

    static CrashPlan parse(String text) {
        String[] parts = text.strip().split(" ", -1);
        return new CrashPlan(Integer.parseInt(parts[0]), When.valueOf(parts[1]));
    }

    /// Lays this plan for the controller of `folder`.
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

    /// Takes the plan away.
    ///
    /// @return the calls that were made under it
    static List<String> lift(Path folder) {
        try {
            Files.deleteIfExists(folder.resolve(PLAN));
            Path calls = folder.resolve(CALLS);
            return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Ends this process by SIGKILL if call `current` is the one; 0 is none.
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
