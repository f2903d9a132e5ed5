package dev.siphon.node.device;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Devices of one kind that a pod holds, at one place.
///
/// @param resource as pods ask for it, such as `nvidia.com/gpu`
/// @param ids as the device plugin names them
/// @param numaNodes where they are, if the device plugin says so
public record HeldDevice(String resource, List<String> ids, Set<Integer> numaNodes) {
    /// NVIDIA's and AMD's device plugins, with MIG, time slicing and others of the same manner, and Intel's.
    private static final Pattern GPU = Pattern.compile("[^/]+/(?:gpu|mig-)[^/]*|gpu\\.intel\\.com/(?!.*monitoring).+");

    public HeldDevice {
        ids = List.copyOf(ids);
        numaNodes = Set.copyOf(numaNodes);
    }

    /// The same device, at the places of both.
    HeldDevice and(HeldDevice same) {
        return new HeldDevice(
                resource,
                ids,
                Stream.concat(numaNodes.stream(), same.numaNodes.stream()).collect(Collectors.toSet()));
    }

    /// Whether these are GPUs, by what they are called.
    boolean isGpu() {
        return GPU.matcher(resource).matches();
    }
}
