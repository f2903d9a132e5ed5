package dev.siphon.node.topology;

import java.nio.file.Path;

/// Where a machine is read: the kernel's own file systems, or a recording of another machine's.
///
/// @param sys as `/sys`
/// @param proc as `/proc`
public record MachineRoots(Path sys, Path proc) {
    /// The machine that this process runs on.
    public static MachineRoots live() {
        return new MachineRoots(Path.of("/sys"), Path.of("/proc"));
    }
}
