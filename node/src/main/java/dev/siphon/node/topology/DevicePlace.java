package dev.siphon.node.topology;

/// Where a device of a pod is, as far as it is known.
public sealed interface DevicePlace {
    /// A GPU that this machine knows.
    record OfGpu(Gpu gpu) implements DevicePlace {}

    /// One of which nothing is known but its NUMA node.
    record OnNode(int numaNode) implements DevicePlace {}

    /// For people.
    default String shown() {
        return switch (this) {
            case OfGpu(var gpu) -> gpu.address().toString();
            case OnNode(var node) -> "NUMA node " + node;
        };
    }

    /// How far it is from a device whose way is `path`.
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
