package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/// Calls the kernel through `syscall(2)` of the C library. One native signature serves all calls, even those that
/// the C library does not wrap. Every return code is checked here and nowhere else.
///
/// The numbers are those of `asm/unistd_64.h` (x86-64) and `asm-generic/unistd.h` (arm64).
enum Syscalls {
    READ(0, 63),
    CLOSE(3, 57),
    LSEEK(8, 62),
    IOCTL(16, 29),
    PREAD64(17, 67),
    PWRITE64(18, 68),
    FCNTL(72, 25),
    FLOCK(73, 32),
    FSYNC(74, 82),
    FTRUNCATE(77, 46),
    FCHMOD(91, 52),
    FSTATFS(138, 44),
    MOUNT(165, 40),
    UMOUNT2(166, 39),
    SETXATTR(188, 5),
    GETXATTR(191, 8),
    LGETXATTR(192, 9),
    LLISTXATTR(195, 12),
    GETDENTS64(217, 61),
    MKDIRAT(258, 34),
    MKNODAT(259, 33),
    UNLINKAT(263, 35),
    LINKAT(265, 37),
    SYMLINKAT(266, 36),
    FCHMODAT(268, 53),
    UTIMENSAT(280, 88),
    SYNCFS(306, 267),
    FALLOCATE(285, 47),
    READLINKAT(267, 78),
    MEMFD_CREATE(319, 279),
    STATX(332, 291),
    OPEN_TREE(428, 428),
    MOVE_MOUNT(429, 429),
    FSOPEN(430, 430),
    FSCONFIG(431, 431),
    OPENAT2(437, 437),
    MOUNT_SETATTR(442, 442);

    private static final boolean ARM64 = System.getProperty("os.arch").equals("aarch64");

    /// `AT_FDCWD` of `linux/fcntl.h`: relative paths start at the working directory.
    static final long AT_FDCWD = -100;

    /// `AT_EMPTY_PATH`: the call applies to the descriptor itself.
    static final long AT_EMPTY_PATH = 0x1000;

    /// `O_DIRECTORY` of `asm/fcntl.h`, which differs between the architectures.
    static final long O_DIRECTORY = ARM64 ? 0x4000 : 0x10000;

    /// `O_DIRECT`, likewise.
    static final long O_DIRECT = ARM64 ? 0x10000 : 0x4000;

    /// `O_NOFOLLOW`, likewise.
    static final long O_NOFOLLOW = ARM64 ? 0x8000 : 0x20000;

    private static final int MAX_ARGUMENTS = 5;
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));

    private final long x86Number;
    private final long arm64Number;

    Syscalls(long x86Number, long arm64Number) {
        this.x86Number = x86Number;
        this.arm64Number = arm64Number;
    }

    /// Returns the address of `text` as a C string, valid while `arena` lives.
    static long text(Arena arena, String text) {
        return arena.allocateFrom(text, StandardCharsets.UTF_8).address();
    }

    /// Makes the call. Memory whose address is in `arguments` must live until the call returns.
    ///
    /// @return the kernel's result, never negative
    /// @throws ErrnoException if the call failed
    long call(long... arguments) {
        long[] all = java.util.Arrays.copyOf(arguments, MAX_ARGUMENTS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            long result = invoke(state, all);
            if (result < 0) {
                throw new ErrnoException(name().toLowerCase(java.util.Locale.ROOT), (int) ERRNO.get(state, 0L));
            }
            return result;
        }
    }

    private long invoke(MemorySegment state, long[] arguments) {
        long number = ARM64 ? arm64Number : x86Number;
        try {
            return (long) Native.SYSCALL.invokeExact(
                    state, number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a native call throws no checked exception", e);
        }
    }

    /// Linked at the first call, not when the enum is loaded: linking takes a tenth of a second.
    @SuppressWarnings("restricted") // the signature below is that of syscall(2)
    private static final class Native {
        static final MethodHandle SYSCALL = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker()
                                .defaultLookup()
                                .find("syscall")
                                .orElseThrow(() -> new IllegalStateException("the C library has no syscall(2)")),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG),
                        Linker.Option.captureCallState("errno"),
                        Linker.Option.firstVariadicArg(1));
    }
}
