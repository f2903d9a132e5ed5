package dev.siphon.controller.ceph.rados;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/// Binds the functions of librados.so.2 that com.ceph:rados lacks or gets wrong (`src/include/rados/librados.h`):
/// that binding never frees a reply, passes `size_t*` as an int, and counts characters instead of bytes.
@SuppressWarnings("restricted") // native calls are what this class is for
final class Librados {
    private final MethodHandle monCommand;
    private final MethodHandle mgrCommand;
    private final MethodHandle bufferFree;

    private Librados(SymbolLookup library) {
        FunctionDescriptor command = FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
        Linker linker = Linker.nativeLinker();
        monCommand = linker.downcallHandle(library.findOrThrow("rados_mon_command"), command);
        mgrCommand = linker.downcallHandle(library.findOrThrow("rados_mgr_command"), command);
        bufferFree =
                linker.downcallHandle(library.findOrThrow("rados_buffer_free"), FunctionDescriptor.ofVoid(ADDRESS));
    }

    /// Binds the librados that the process has loaded or can load.
    ///
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if it is missing or lacks a needed function
    static Librados load() {
        try {
            return new Librados(SymbolLookup.libraryLookup("librados.so.2", Arena.global()));
        } catch (IllegalArgumentException | java.util.NoSuchElementException e) {
            throw new DriverException.Unsupported(
                    "librados.so.2 cannot be used: " + e.getMessage() + "; install Ceph's librados2");
        }
    }

    /// Sends a command and blocks until the reply.
    ///
    /// @param handle a connected `rados_t`
    CommandReply command(long handle, CephCommand command, String what) {
        MethodHandle function = switch (command.daemon()) {
            case MON -> monCommand;
            case MGR -> mgrCommand;
        };
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment commands = arena.allocate(ADDRESS);
            commands.set(ADDRESS, 0, arena.allocateFrom(command.json()));
            MemorySegment output = arena.allocate(ADDRESS);
            MemorySegment outputLength = arena.allocate(JAVA_LONG);
            MemorySegment words = arena.allocate(ADDRESS);
            MemorySegment wordsLength = arena.allocate(JAVA_LONG);
            int returnCode = (int) function.invokeExact(
                    MemorySegment.ofAddress(handle),
                    commands,
                    1L,
                    MemorySegment.NULL,
                    0L,
                    output,
                    outputLength,
                    words,
                    wordsLength);
            return new CommandReply(what, returnCode, take(output, outputLength), take(words, wordsLength));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new LinkageError("rados command", e);
        }
    }

    private String take(MemorySegment pointer, MemorySegment length) throws Throwable {
        MemorySegment buffer = pointer.get(ADDRESS, 0);
        if (buffer.address() == 0) {
            return "";
        }
        byte[] bytes = buffer.reinterpret(length.get(JAVA_LONG, 0)).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        bufferFree.invokeExact(buffer);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
