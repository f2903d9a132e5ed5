package dev.siphon.node.device;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Devices of one kind that a pod holds, at one place.
///
/// @param resource as pods ask for it, such as `nvidia.com/gpu`; of a device that was allocated dynamically the
///     driver, such as `gpu.nvidia.com`
/// @param ids as the device plugin names them
/// @param otherNames of the one device in `ids`, or of what it is a part of; none if there are several
/// @param numaNodes where they are, if the device plugin says so
public record HeldDevice(String resource, List<String> ids, List<String> otherNames, Set<Integer> numaNodes) {
    /// NVIDIA's and AMD's device plugins, with MIG, time slicing and others of the same manner, and Intel's; and the
    /// drivers of Dynamic Resource Allocation of all three.
    private static final Pattern GPU =
            Pattern.compile("[^/]+/(?:gpu|mig-)[^/]*|gpu\\.intel\\.com/(?!.*monitoring).+|[^/]*gpu[^/]*");

    public HeldDevice {
        ids = List.copyOf(ids);
        otherNames = List.copyOf(otherNames);
        numaNodes = Set.copyOf(numaNodes);
    }

    /// Devices that have one name each.
    public HeldDevice(String resource, List<String> ids, Set<Integer> numaNodes) {
        this(resource, ids, List.of(), numaNodes);
    }

    /// The same device, at the places of both.
    HeldDevice and(HeldDevice same) {
        return new HeldDevice(
                resource,
                ids,
                otherNames,
                Stream.concat(numaNodes.stream(), same.numaNodes.stream()).collect(Collectors.toSet()));
    }

    /// All names of the one that `id` is the name of, the most exact first.
    Stream<String> names(String id) {
        return Stream.concat(Stream.of(id), otherNames.stream());
    }

    /// Whether these are GPUs, by what they are called.
    boolean isGpu() {
        return GPU.matcher(resource).matches();
    }
}
