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

/// Queries NVIDIA's library on its own thread: a hanging driver call cannot be cancelled, and would pin the carrier
/// of a virtual thread.
public final class Nvml {
    private static final Logger LOG = LoggerFactory.getLogger(Nvml.class);

    /// The name in the driver's packages and in NVIDIA's container runtime.
    private static final String LIBRARY = "libnvidia-ml.so.1";

    private final Supplier<SymbolLookup> library;

    /// @param library opens the library; throws [IllegalArgumentException] if there is none
    Nvml(Supplier<SymbolLookup> library) {
        this.library = library;
    }

    /// Returns the library of this machine. It is opened at the first query, and stays in the process.
    public static Nvml installed() {
        return new Nvml(Nvml::open);
    }

    @SuppressWarnings("restricted") // by its name, as the system's linker finds it
    private static SymbolLookup open() {
        return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    }

    /// Returns the MIG devices of all GPUs; empty if the library is missing, fails, or does not respond within
    /// `limit`. The thread of a hanging call is abandoned, and ends with the process.
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
            answer.complete(List.of()); // no library: the node has no such GPU, or no driver
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }
}
