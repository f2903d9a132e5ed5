package dev.siphon.controller.ceph.call;

/// Threads for code that is written in C++.
public final class NativeThreads {
    /// What a C program's threads have on Linux; librados overruns 512 KiB while connecting. Only what is
    /// used takes memory.
    private static final long STACK_BYTES = 8L << 20;

    private NativeThreads() {}

    /// Daemon threads that Ceph's libraries can run on.
    public static Thread.Builder.OfPlatform named(String name) {
        return Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name(name);
    }

    /// The same, numbered from 1.
    public static Thread.Builder.OfPlatform numbered(String prefix) {
        return Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name(prefix, 1);
    }
}
