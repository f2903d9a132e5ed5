package dev.siphon.node.topology.nvml;

import dev.siphon.csi.DeadlineExecutor;
import dev.siphon.csi.DriverException;
import dev.siphon.node.topology.MigDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Queries NVIDIA's library by a [DeadlineExecutor]: a call to a driver that hangs cannot be cancelled.
public final class Nvml {
    private static final Logger LOG = LoggerFactory.getLogger(Nvml.class);

    /// The name in the driver's packages and in NVIDIA's container runtime.
    private static final String LIBRARY = "libnvidia-ml.so.1";

    private final Supplier<SymbolLookup> library;
    private final DeadlineExecutor threads =
            new DeadlineExecutor(Thread.ofPlatform().daemon().name("nvml-", 0).factory(), 1, 1);

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
    /// `limit`, or if an earlier query still hangs.
    public List<MigDevice> migDevices(Duration limit) {
        try {
            return threads.check(
                    "NVML",
                    "NVML",
                    limit,
                    () -> NvmlCalls.link(library.get()).map(MigTable::read).orElse(List.of()));
        } catch (IllegalArgumentException _) {
            return List.of(); // no library: the node has no such GPU, or no driver
        } catch (DriverException late) {
            LOG.warn("{}; MIG devices are not known", late.getMessage());
            return List.of();
        } catch (RuntimeException | Error e) {
            LOG.warn("NVML cannot be asked; MIG devices are not known", e);
            return List.of();
        }
    }
}
