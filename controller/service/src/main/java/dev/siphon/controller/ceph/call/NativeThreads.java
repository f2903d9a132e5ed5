package dev.siphon.controller.ceph.call;

/// Creates threads for code written in C++.
public final class NativeThreads {
    /// The default stack of C programs on Linux; librados overflows 512 KiB while connecting. Only used pages
    /// occupy memory.
    private static final long STACK_BYTES = 8L << 20;

    private NativeThreads() {}

    /// Returns a builder of daemon threads for Ceph's libraries.
    public static Thread.Builder.OfPlatform named(String name) {
        return Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name(name);
    }

    /// Returns the same, with names numbered from 1.
    public static Thread.Builder.OfPlatform numbered(String prefix) {
        return Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name(prefix, 1);
    }
}
