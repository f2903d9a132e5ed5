package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/// The path from a host bridge down to a PCI device.
///
/// @param address the device's address
/// @param hostBridge the root of the tree, named as in sysfs (`pci0000:00`); empty if the machine does not report
///     it
/// @param bridges the bridges in between, from the root port downwards: root ports, and two bridges for each switch
/// @param numaNode the device's NUMA node; empty if the machine does not report it (`numa_node` of -1)
public record PciPath(PciAddress address, Optional<String> hostBridge, List<PciAddress> bridges, OptionalInt numaNode) {
    private static final Pattern HOST_BRIDGE = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");

    public PciPath {
        bridges = List.copyOf(bridges);
    }

    /// Returns the path to the last PCI device in `real`; empty if it contains none.
    ///
    /// @param real a path in sysfs, without symbolic links
    static Optional<PciPath> of(Path real) {
        Optional<String> root = Optional.empty();
        List<PciAddress> chain = new ArrayList<>();
        Path device = real;
        for (int i = 0; i < real.getNameCount(); i++) {
            String name = real.getName(i).toString();
            Optional<PciAddress> address = PciAddress.parse(name);
            if (address.isPresent()) {
                chain.add(address.get());
                device = real.getRoot().resolve(real.subpath(0, i + 1));
            } else if (root.isEmpty()
                    && chain.isEmpty()
                    && HOST_BRIDGE.matcher(name).matches()) {
                root = Optional.of(name);
            }
        }
        if (chain.isEmpty()) {
            return Optional.empty();
        }
        PciAddress last = chain.removeLast();
        return Optional.of(new PciPath(last, root, chain, numaNode(device)));
    }

    private static OptionalInt numaNode(Path device) {
        OptionalInt node = MachineFiles.number(device.resolve("numa_node"));
        return node.isPresent() && node.getAsInt() >= 0 ? node : OptionalInt.empty();
    }

    /// Returns the same path with the NUMA node `only`, unless it has a node.
    PciPath orNumaNode(OptionalInt only) {
        return numaNode.isPresent() ? this : new PciPath(address, hostBridge, bridges, only);
    }
}
