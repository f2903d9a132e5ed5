package dev.siphon.node.topology.nvml;

import dev.siphon.node.topology.MigDevice;
import dev.siphon.node.topology.PciAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Lists the MIG devices of all GPUs. If NVML fails for one GPU, its devices are left out and the others are still
/// listed.
final class MigTable {
    private MigTable() {}

    static List<MigDevice> read(NvmlCalls calls) {
        if (!calls.init()) {
            return List.of();
        }
        try {
            List<MigDevice> found = new ArrayList<>();
            int gpus = calls.count().orElse(0);
            for (int i = 0; i < gpus; i++) {
                OptionalLong gpu = calls.gpu(i);
                if (gpu.isPresent()) {
                    found.addAll(parts(calls, gpu.getAsLong()));
                }
            }
            return List.copyOf(found);
        } finally {
            calls.shutdown();
        }
    }

    private static List<MigDevice> parts(NvmlCalls calls, long gpu) {
        Optional<PciAddress> address = calls.busId(gpu).flatMap(PciAddress::parse);
        OptionalInt most = calls.maxParts(gpu);
        List<MigDevice> found = new ArrayList<>();
        for (int i = 0; address.isPresent() && i < most.orElse(0); i++) {
            OptionalLong part = calls.part(gpu, i); // the numbers may have gaps
            if (part.isPresent()) {
                calls.uuid(part.getAsLong()).ifPresent(uuid -> found.add(new MigDevice(uuid, address.get())));
            }
        }
        return found;
    }
}
