package dev.siphon.node.topology;

import java.util.List;

/// How far two PCI devices are apart, in the terms of `nvidia-smi topo -m`, the nearest first.
public enum Distance {
    /// A device and itself, `X` in that table.
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
    /// The machine does not tell. Prefers nobody: it weighs as much as [#SYS], so what is known to be near goes
    /// before it, and what is known to be far does not go behind it.
    UNKNOWN("?", 50);

    private final String label;
    private final int weight;

    Distance(String label, int weight) {
        this.label = label;
        this.weight = weight;
    }

    /// As people know it.
    public String label() {
        return label;
    }

    /// What is added up over several GPUs: NVML's own numbers of these levels (`nvmlGpuTopologyLevel_t`).
    public int weight() {
        return weight;
    }

    /// The farther one of two.
    public Distance or(Distance other) {
        return compareTo(other) >= 0 ? this : other;
    }

    /// How far `one` is from `other`; the order does not matter.
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

    /// A switch is two bridges in sysfs, its upstream port and the downstream port towards the device. Where the
    /// two ways part at an upstream port, each goes through one more bridge, and the switch is all there is
    /// between them.
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
