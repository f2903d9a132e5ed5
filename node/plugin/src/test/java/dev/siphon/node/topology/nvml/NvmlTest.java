package dev.siphon.node.topology.nvml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.topology.MigDevice;
import dev.siphon.node.topology.PciAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NvmlTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /// Names as in NVIDIA's MIG user guide; the indexes have gaps.
    @Test
    void thePartsOfEachGpuAreKnown() {
        try (FakeNvml library = new FakeNvml()) {
            assertEquals(
                    List.of(
                            new MigDevice("MIG-c7384736-a75d-5afc-978f-d2f1294409fd", address("0000:19:00.0")),
                            new MigDevice("MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d", address("0000:19:00.0")),
                            new MigDevice("MIG-0b1f2c3d-1111-5222-8333-444455556666", address("0000:9a:00.0"))),
                    new Nvml(() -> library).migDevices(LIMIT));
            assertEquals(0, library.open(), "what was initialised is shut down");
        }
    }

    private static PciAddress address(String text) {
        return PciAddress.parse(text).orElseThrow();
    }

    @Test
    void aGpuThatRefusesLeavesTheOthers() {
        try (FakeNvml library = new FakeNvml()) {
            library.refuse(NvmlCalls.MAX_PARTS, 0);
            assertEquals(1, new Nvml(() -> library).migDevices(LIMIT).size());
        }
    }

    @Test
    void everyCallMayFail() {
        for (String name : NvmlCalls.SIGNATURES.keySet()) {
            try (FakeNvml library = new FakeNvml()) {
                library.refuse(name);
                List<MigDevice> found = new Nvml(() -> library).migDevices(LIMIT);
                assertEquals(name.equals(NvmlCalls.SHUTDOWN) ? 3 : 0, found.size(), name);
            }
        }
    }

    @Test
    void aLibraryWithoutMigKnowsNoParts() {
        try (FakeNvml library = new FakeNvml()) {
            library.lacks(NvmlCalls.PART);
            assertEquals(List.of(), new Nvml(() -> library).migDevices(LIMIT));
            assertEquals(0, library.calls(), "none of it is called");
        }
    }

    @Test
    void noLibraryIsNoError() {
        assertEquals(
                List.of(),
                new Nvml(() -> {
                            throw new IllegalArgumentException("Cannot open library: libnvidia-ml.so.1");
                        })
                        .migDevices(LIMIT));
        assertTrue(Nvml.installed().migDevices(LIMIT).stream()
                .allMatch(part -> part.uuid().startsWith("MIG-")));
    }

    @Test
    void aLibraryThatBreaksIsNoError() {
        assertEquals(
                List.of(),
                new Nvml(() -> {
                            throw new IllegalStateException("broken");
                        })
                        .migDevices(LIMIT));
    }

    @Test
    void aCallThatHangsHoldsUpNobody() {
        try (FakeNvml library = new FakeNvml()) {
            library.hang();
            assertEquals(List.of(), new Nvml(() -> library).migDevices(Duration.ofMillis(50)));
            assertFalse(Thread.currentThread().isInterrupted());
        }
    }
}
