package dev.siphon.node.topology;

import java.util.List;

/// The distance between two PCI devices, in the terms of `nvidia-smi topo -m`, the nearest first.
public enum Distance {
    /// The same device, `X` in that table.
    SELF("X", 0),
    /// At most one bridge: two ports of one switch, or two functions of one card.
    PIX("PIX", 10),
    /// Several bridges, but no host bridge: switches below switches.
    PXB("PXB", 20),
    /// A host bridge: two root ports of one root complex.
    PHB("PHB", 30),
    /// Two host bridges of one NUMA node.
    NODE("NODE", 40),
    /// Two NUMA nodes.
    SYS("SYS", 50),
    /// Unknown. It weighs as much as [#SYS]. So a directory known to be near ranks before it, and one known to be
    /// far does not rank behind it.
    UNKNOWN("?", 50);

    private final String label;
    private final int weight;

    Distance(String label, int weight) {
        this.label = label;
        this.weight = weight;
    }

    /// Returns the name in `nvidia-smi topo -m`.
    public String label() {
        return label;
    }

    /// Returns the number to add up over several GPUs: NVML's own value for this level (`nvmlGpuTopologyLevel_t`).
    public int weight() {
        return weight;
    }

    /// Returns the farther of two distances.
    public Distance or(Distance other) {
        return compareTo(other) >= 0 ? this : other;
    }

    /// Returns the distance between two devices; symmetric.
    public static Distance between(PciPath one, PciPath other) {
        if (one.address().equals(other.address())) {
            return SELF;
        }
        boolean known = one.hostBridge().isPresent() && other.hostBridge().isPresent();
        if (known && one.hostBridge().equals(other.hostBridge())) {
            return below(one.bridges(), other.bridges());
        }
        if (one.numaNode().isEmpty() || other.numaNode().isEmpty()) {
            return UNKNOWN;
        }
        return one.numaNode().getAsInt() == other.numaNode().getAsInt() ? NODE : SYS;
    }

    /// Returns the distance below one host bridge. sysfs shows a switch as two bridges: its upstream port, and the
    /// downstream port towards the device. If two paths part at an upstream port, each has one more bridge, and
    /// only this switch lies between them.
    private static Distance below(List<PciAddress> one, List<PciAddress> other) {
        int shared = 0;
        while (shared < Math.min(one.size(), other.size()) && one.get(shared).equals(other.get(shared))) {
            shared++;
        }
        if (shared == 0) {
            return PHB;
        }
        return Math.max(one.size(), other.size()) - shared <= 1 ? PIX : PXB;
    }
}
