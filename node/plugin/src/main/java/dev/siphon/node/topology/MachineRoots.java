package dev.siphon.node.topology;

import java.nio.file.Path;

/// The file systems to read a machine from: the kernel's own, or a recording of another machine.
///
/// @param sys the equivalent of `/sys`
/// @param proc the equivalent of `/proc`
public record MachineRoots(Path sys, Path proc) {
    /// Returns the roots of the machine that this process runs on.
    public static MachineRoots live() {
        return new MachineRoots(Path.of("/sys"), Path.of("/proc"));
    }
}
