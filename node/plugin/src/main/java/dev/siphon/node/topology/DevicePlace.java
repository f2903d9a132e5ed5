package dev.siphon.node.topology;

/// The location of a pod's device, as far as it is known.
public sealed interface DevicePlace {
    /// A GPU known to this machine.
    record OfGpu(Gpu gpu) implements DevicePlace {}

    /// A device of which only the NUMA node is known.
    record OnNode(int numaNode) implements DevicePlace {}

    /// Returns the location for people.
    default String shown() {
        return switch (this) {
            case OfGpu(var gpu) -> gpu.address().toString();
            case OnNode(var node) -> "NUMA node " + node;
        };
    }

    /// Returns the distance from a device at `path`.
    default Distance from(PciPath path) {
        return switch (this) {
            case OfGpu(var gpu) -> Distance.between(gpu.path(), path);
            case OnNode(var node) ->
                path.numaNode().isEmpty()
                        ? Distance.UNKNOWN
                        : path.numaNode().getAsInt() == node ? Distance.NODE : Distance.SYS;
        };
    }
}
