package dev.siphon.node.topology.nvml;

import dev.siphon.node.topology.MigDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks the library, on a thread of its own: a call into a driver that hangs cannot be cancelled, and would pin
/// the carrier of a virtual thread.
public final class Nvml {
    private static final Logger LOG = LoggerFactory.getLogger(Nvml.class);

    /// As the driver's packages and NVIDIA's container runtime install it.
    private static final String LIBRARY = "libnvidia-ml.so.1";

    private final Supplier<SymbolLookup> library;

    /// @param library opens the library, with an [IllegalArgumentException] if there is none
    Nvml(Supplier<SymbolLookup> library) {
        this.library = library;
    }

    /// The library of this machine. It is opened when it is asked, and stays in the process.
    public static Nvml installed() {
        return new Nvml(Nvml::open);
    }

    @SuppressWarnings("restricted") // by its name, as the system's linker finds it
    private static SymbolLookup open() {
        return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    }

    /// The parts of all GPUs; none where the library is missing, refuses, or has not answered within `limit`. A
    /// call that hangs is left to itself: its thread ends with the process.
    public List<MigDevice> migDevices(Duration limit) {
        CompletableFuture<List<MigDevice>> answer = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("nvml").start(() -> ask(answer));
        try {
            return answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return List.of();
        } catch (TimeoutException _) {
            LOG.warn("NVML has not answered within {} ms; MIG devices are not known", limit.toMillis());
            return List.of();
        } catch (ExecutionException e) {
            LOG.warn("NVML cannot be asked; MIG devices are not known", e.getCause());
            return List.of();
        }
    }

    private void ask(CompletableFuture<List<MigDevice>> answer) {
        try {
            answer.complete(NvmlCalls.link(library.get()).map(MigTable::read).orElse(List.of()));
        } catch (IllegalArgumentException _) {
            answer.complete(List.of()); // no library: this node has no such GPU, or no driver
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }
}
