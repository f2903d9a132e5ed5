package dev.siphon.node.device;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Devices of one kind that a pod holds, at one location.
///
/// @param resource the resource name, such as `nvidia.com/gpu`; for a dynamically allocated device, the driver,
///     such as `gpu.nvidia.com`
/// @param ids the device plugin's names
/// @param otherNames other names of the one device in `ids`, or of the device that it is a part of; empty if `ids`
///     has several
/// @param numaNodes the NUMA nodes, if the device plugin reports them
public record HeldDevice(String resource, List<String> ids, List<String> otherNames, Set<Integer> numaNodes) {
    /// Matches the GPU resources of NVIDIA's, AMD's and Intel's device plugins, including MIG, time slicing and
    /// similar, and the vendors' drivers for Dynamic Resource Allocation.
    private static final Pattern GPU =
            Pattern.compile("[^/]+/(?:gpu|mig-)[^/]*|gpu\\.intel\\.com/(?!.*monitoring).+|[^/]*gpu[^/]*");

    public HeldDevice {
        ids = List.copyOf(ids);
        otherNames = List.copyOf(otherNames);
        numaNodes = Set.copyOf(numaNodes);
    }

    /// Creates devices with one name each.
    public HeldDevice(String resource, List<String> ids, Set<Integer> numaNodes) {
        this(resource, ids, List.of(), numaNodes);
    }

    /// Returns the same device, with the NUMA nodes of both.
    HeldDevice and(HeldDevice same) {
        return new HeldDevice(
                resource,
                ids,
                otherNames,
                Stream.concat(numaNodes.stream(), same.numaNodes.stream()).collect(Collectors.toSet()));
    }

    /// Returns all names of the device `id`, the most exact first.
    Stream<String> names(String id) {
        return Stream.concat(Stream.of(id), otherNames.stream());
    }

    /// Returns whether these are GPUs, judged by the resource name.
    boolean isGpu() {
        return GPU.matcher(resource).matches();
    }
}
