package dev.siphon.csi.server;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Exits without running the exit handlers of native libraries (`_exit(2)`). Those of librados destroy what its own
/// threads may still use while it connects or hangs. On Ceph 20.2.4, a SIGTERM just after the start caused a
/// SIGSEGV once in a few hundred runs.
public final class ImmediateExit {
    /// Set while an AOT cache is created: the virtual machine writes it only at its own exit.
    private static final String TRAINING = "siphon.training";

    private ImmediateExit() {}

    /// Does not return.
    @SuppressWarnings("restricted") // a native call
    public static void with(int code) {
        if (Boolean.getBoolean(TRAINING)) {
            Runtime.getRuntime().halt(code);
        }
        Linker linker = Linker.nativeLinker();
        MethodHandle exit = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("_exit"), FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        try {
            exit.invokeExact(code);
        } catch (Throwable e) {
            throw new LinkageError("_exit(2)", e);
        }
    }
}
