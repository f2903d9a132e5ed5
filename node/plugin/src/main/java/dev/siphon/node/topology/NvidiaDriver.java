package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// The GPUs that NVIDIA's driver reports in `/proc/driver/nvidia/gpus/ADDRESS/information`.
///
/// @param gpus the lines of each GPU, by PCI address and by the text before the colon
record NvidiaDriver(Map<PciAddress, Map<String, String>> gpus) {
    /// The driver shows this for each digit of a UUID that it has not read from the GPU yet.
    private static final String NOT_YET = "?";

    NvidiaDriver {
        gpus = Map.copyOf(gpus);
    }

    static NvidiaDriver read(MachineRoots roots) {
        Map<PciAddress, Map<String, String>> gpus = new HashMap<>();
        for (Path folder : MachineFiles.entries(roots.proc().resolve("driver/nvidia/gpus"))) {
            Map<String, String> lines = lines(folder.resolve("information"));
            PciAddress.parse(lines.getOrDefault("Bus Location", ""))
                    .or(() -> PciAddress.parse(MachineFiles.name(folder)))
                    .ifPresent(address -> gpus.put(address, lines));
        }
        return new NvidiaDriver(gpus);
    }

    private static Map<String, String> lines(Path file) {
        Map<String, String> lines = new HashMap<>();
        MachineFiles.text(file).stream().flatMap(String::lines).forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                lines.put(
                        line.substring(0, colon).strip(),
                        line.substring(colon + 1).strip());
            }
        });
        return Map.copyOf(lines);
    }

    /// Returns the GPU at `path`, without the driver's details if the driver does not have it.
    Gpu gpu(PciPath path) {
        Map<String, String> lines = gpus.getOrDefault(path.address(), Map.of());
        return new Gpu(
                path,
                GpuVendor.NVIDIA,
                Optional.ofNullable(lines.get("Model")).filter(text -> !text.isEmpty()),
                Optional.ofNullable(lines.get("GPU UUID")).filter(text -> !text.isEmpty() && !text.contains(NOT_YET)),
                minor(lines.getOrDefault("Device Minor", "")));
    }

    private static OptionalInt minor(String text) {
        try {
            return OptionalInt.of(Integer.parseUnsignedInt(text));
        } catch (NumberFormatException _) {
            return OptionalInt.empty();
        }
    }
}
