package dev.siphon.node.topology.nvml;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// An NVML library with native entry points, implemented here: two GPUs, the first with two MIG devices and the
/// second with one.
final class FakeNvml implements SymbolLookup, AutoCloseable {
    private static final int NOT_SUPPORTED = 3;
    private static final int NOT_FOUND = 6;
    private static final long FIRST_GPU = 0x7f00_0000_1000L;
    private static final int MAX_PARTS = 7;

    private static final List<String> BUS_IDS = List.of("00000000:19:00.0", "00000000:9A:00.0");

    /// By GPU and index; an empty text means no device.
    private static final List<List<String>> PARTS = List.of(
            List.of(
                    "",
                    "MIG-c7384736-a75d-5afc-978f-d2f1294409fd",
                    "",
                    "MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d",
                    "",
                    "",
                    ""),
            List.of("MIG-0b1f2c3d-1111-5222-8333-444455556666", "", "", "", "", "", ""));

    private final Arena arena = Arena.ofShared();
    private final Set<String> refused = new HashSet<>();
    private final Set<String> missing = new HashSet<>();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private boolean hangs;

    /// Makes a function fail for all GPUs.
    void refuse(String name) {
        refused.add(name);
    }

    /// Makes a function fail for one GPU.
    void refuse(String name, int gpu) {
        refused.add(name + gpu);
    }

    void lacks(String name) {
        missing.add(name);
    }

    /// Makes the first call block until [#close].
    void hang() {
        hangs = true;
    }

    /// Returns initializations minus shutdowns.
    int open() {
        return open.get();
    }

    int calls() {
        return calls.get();
    }

    @Override
    @SuppressWarnings("restricted") // a function of this class, with the tested signature
    public Optional<MemorySegment> find(String name) {
        return Optional.ofNullable(NvmlCalls.SIGNATURES.get(name))
                .filter(_ -> !missing.contains(name))
                .map(signature ->
                        Linker.nativeLinker().upcallStub(bound(name, signature.toMethodType()), signature, arena));
    }

    private MethodHandle bound(String name, MethodType type) {
        try {
            return MethodHandles.lookup().bind(this, name, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean refuses(String name) {
        calls.incrementAndGet();
        return refused.contains(name);
    }

    private boolean refuses(String name, long gpu) {
        return refuses(name) || refused.contains(name + index(gpu));
    }

    private static int index(long gpu) {
        return (int) (gpu - FIRST_GPU);
    }

    int nvmlInit_v2() throws InterruptedException {
        if (hangs) {
            ended.await();
        }
        if (refuses(NvmlCalls.INIT)) {
            return NOT_SUPPORTED;
        }
        open.incrementAndGet();
        return 0;
    }

    int nvmlShutdown() {
        if (refuses(NvmlCalls.SHUTDOWN)) {
            return NOT_SUPPORTED;
        }
        open.decrementAndGet();
        return 0;
    }

    int nvmlDeviceGetCount_v2(MemorySegment count) {
        if (refuses(NvmlCalls.COUNT)) {
            return NOT_SUPPORTED;
        }
        put(count, BUS_IDS.size());
        return 0;
    }

    int nvmlDeviceGetHandleByIndex_v2(int index, MemorySegment gpu) {
        if (refuses(NvmlCalls.GPU)) {
            return NOT_SUPPORTED;
        }
        put(gpu, FIRST_GPU + index);
        return 0;
    }

    int nvmlDeviceGetPciInfo_v3(long gpu, MemorySegment info) {
        if (refuses(NvmlCalls.PCI_INFO, gpu)) {
            return NOT_SUPPORTED;
        }
        String busId = BUS_IDS.get(index(gpu));
        sized(info, 68).setString(0, busId.substring("0000".length())); // busIdLegacy
        sized(info, 68).setString(36, busId);
        return 0;
    }

    int nvmlDeviceGetUUID(long device, MemorySegment uuid, int length) {
        if (refuses(NvmlCalls.UUID)) {
            return NOT_SUPPORTED;
        }
        int part = (int) (device >> 48) - 1;
        int gpu = index(device & 0xffff_ffff_ffffL);
        sized(uuid, length).setString(0, PARTS.get(gpu).get(part));
        return 0;
    }

    int nvmlDeviceGetMaxMigDeviceCount(long gpu, MemorySegment count) {
        if (refuses(NvmlCalls.MAX_PARTS, gpu)) {
            return NOT_SUPPORTED;
        }
        put(count, MAX_PARTS);
        return 0;
    }

    int nvmlDeviceGetMigDeviceHandleByIndex(long gpu, int index, MemorySegment part) {
        if (refuses(NvmlCalls.PART)) {
            return NOT_SUPPORTED;
        }
        if (PARTS.get(index(gpu)).get(index).isEmpty()) {
            return NOT_FOUND;
        }
        put(part, (index + 1L) << 48 | gpu);
        return 0;
    }

    private static void put(MemorySegment pointer, int value) {
        sized(pointer, Integer.BYTES).set(ValueLayout.JAVA_INT, 0, value);
    }

    private static void put(MemorySegment pointer, long value) {
        sized(pointer, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, value);
    }

    @SuppressWarnings("restricted") // the caller's buffer, of the length required by nvml.h
    private static MemorySegment sized(MemorySegment pointer, long bytes) {
        return pointer.reinterpret(bytes);
    }

    @Override
    public void close() {
        ended.countDown();
        if (!hangs) {
            arena.close();
        }
    }
}
