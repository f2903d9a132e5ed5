package dev.siphon.node.topology;

import java.util.Arrays;
import java.util.Optional;

/// A vendor of GPUs. Identifies GPUs by vendor id (pci.ids) and class code (PCI Code and ID Assignment
/// Specification).
public enum GpuVendor {
    NVIDIA(0x10de),
    AMD(0x1002),
    INTEL(0x8086);

    private static final int VGA = 0x0300;
    private static final int THREE_D = 0x0302;
    private static final int DISPLAY = 0x0380;
    private static final int ACCELERATOR = 0x1200;

    /// The lowest byte of a class code is the programming interface.
    private static final int INTERFACE_BITS = 8;

    private final int id;

    GpuVendor(int id) {
        this.id = id;
    }

    /// Returns the vendor of a GPU; empty if the device is no GPU.
    ///
    /// @param vendor the device's `vendor` in sysfs
    /// @param code its `class`, three bytes
    static Optional<GpuVendor> of(int vendor, int code) {
        return Arrays.stream(values())
                .filter(each -> each.id == vendor && each.makes(code >> INTERFACE_BITS))
                .findFirst();
    }

    private boolean makes(int kind) {
        return switch (this) {
            case NVIDIA -> kind == VGA || kind == THREE_D;
            case AMD -> kind == VGA || kind == THREE_D || kind == DISPLAY || kind == ACCELERATOR;
            case INTEL -> kind == DISPLAY; // data centre GPUs; a processor's own graphics are VGA controllers
        };
    }
}
