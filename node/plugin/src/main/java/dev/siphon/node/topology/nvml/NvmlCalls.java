package dev.siphon.node.topology.nvml;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// The required functions of NVML, with the names and signatures of `nvml.h` since driver 450. Each returns a code;
/// on any code but success, the result is empty.
///
/// @param functions all functions of [#SIGNATURES], by name
record NvmlCalls(Map<String, MethodHandle> functions) {
    private static final int SUCCESS = 0;

    /// `NVML_DEVICE_UUID_V2_BUFFER_SIZE`
    private static final int UUID_BYTES = 96;

    /// The size of `nvmlPciInfo_t` for `nvmlDeviceGetPciInfo_v3`: 16 bytes for the old form of the bus id, 5
    /// numbers of 4 bytes, and 32 bytes for the bus id (`00000000:07:00.0`).
    private static final int PCI_INFO_BYTES = 68;

    private static final int BUS_ID_OFFSET = 36;
    private static final int BUS_ID_BYTES = 32;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong HANDLE = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;

    static final String INIT = "nvmlInit_v2";
    static final String SHUTDOWN = "nvmlShutdown";
    static final String COUNT = "nvmlDeviceGetCount_v2";
    static final String GPU = "nvmlDeviceGetHandleByIndex_v2";
    static final String PCI_INFO = "nvmlDeviceGetPciInfo_v3";
    static final String UUID = "nvmlDeviceGetUUID";
    static final String MAX_PARTS = "nvmlDeviceGetMaxMigDeviceCount";
    static final String PART = "nvmlDeviceGetMigDeviceHandleByIndex";

    /// In C, a device handle is a pointer; it is opaque here.
    static final Map<String, FunctionDescriptor> SIGNATURES = Map.of(
            INIT, FunctionDescriptor.of(INT),
            SHUTDOWN, FunctionDescriptor.of(INT),
            COUNT, FunctionDescriptor.of(INT, POINTER),
            GPU, FunctionDescriptor.of(INT, INT, POINTER),
            PCI_INFO, FunctionDescriptor.of(INT, HANDLE, POINTER),
            UUID, FunctionDescriptor.of(INT, HANDLE, POINTER, INT),
            MAX_PARTS, FunctionDescriptor.of(INT, HANDLE, POINTER),
            PART, FunctionDescriptor.of(INT, HANDLE, INT, POINTER));

    NvmlCalls {
        functions = Map.copyOf(functions);
    }

    /// Links the functions; empty if the library lacks one, because it is older than MIG.
    @SuppressWarnings("restricted") // the signatures above are those of nvml.h
    static Optional<NvmlCalls> link(SymbolLookup library) {
        Map<String, MethodHandle> functions = new HashMap<>();
        SIGNATURES.forEach((name, signature) -> library.find(name)
                .ifPresent(address -> functions.put(name, Linker.nativeLinker().downcallHandle(address, signature))));
        return functions.size() == SIGNATURES.size() ? Optional.of(new NvmlCalls(functions)) : Optional.empty();
    }

    boolean init() {
        return succeeds(INIT);
    }

    void shutdown() {
        boolean _ = succeeds(SHUTDOWN);
    }

    OptionalInt count() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(INT);
            return succeeds(COUNT, count) ? OptionalInt.of(count.get(INT, 0)) : OptionalInt.empty();
        }
    }

    /// Returns the handle of a GPU.
    OptionalLong gpu(int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gpu = arena.allocate(HANDLE);
            return succeeds(GPU, index, gpu) ? OptionalLong.of(gpu.get(HANDLE, 0)) : OptionalLong.empty();
        }
    }

    /// Returns the PCI address of a GPU, in NVML's form.
    Optional<String> busId(long gpu) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(PCI_INFO_BYTES, INT.byteAlignment());
            return succeeds(PCI_INFO, gpu, info) ? text(info.asSlice(BUS_ID_OFFSET, BUS_ID_BYTES)) : Optional.empty();
        }
    }

    /// Returns the UUID of a GPU or MIG device.
    Optional<String> uuid(long device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment uuid = arena.allocate(UUID_BYTES);
            return succeeds(UUID, device, uuid, UUID_BYTES) ? text(uuid) : Optional.empty();
        }
    }

    /// Returns the maximum number of MIG devices of a GPU; 0 or empty if it supports none.
    OptionalInt maxParts(long gpu) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(INT);
            return succeeds(MAX_PARTS, gpu, count) ? OptionalInt.of(count.get(INT, 0)) : OptionalInt.empty();
        }
    }

    /// Returns the handle of a MIG device; empty if the number is not in use.
    OptionalLong part(long gpu, int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment part = arena.allocate(HANDLE);
            return succeeds(PART, gpu, index, part) ? OptionalLong.of(part.get(HANDLE, 0)) : OptionalLong.empty();
        }
    }

    private static Optional<String> text(MemorySegment buffer) {
        byte[] bytes = buffer.toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return end == 0
                ? Optional.empty()
                : Optional.of(new String(bytes, 0, end, java.nio.charset.StandardCharsets.US_ASCII));
    }

    private boolean succeeds(String name, Object... arguments) {
        MethodHandle function = Optional.ofNullable(functions.get(name))
                .orElseThrow(() -> new IllegalStateException(name + " is not linked"));
        try {
            return (int) function.invokeWithArguments(List.of(arguments)) == SUCCESS;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a native call throws no checked exception", e);
        }
    }
}
