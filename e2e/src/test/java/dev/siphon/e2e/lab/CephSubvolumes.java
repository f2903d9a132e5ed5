package dev.siphon.e2e.lab;

import java.util.List;

/// The subvolumes of the lab's file system.
public final class CephSubvolumes {
    private CephSubvolumes() {}

    /// Returns all of them as `GROUP/NAME`, sorted.
    public static List<String> all() {
        return Command.run(Project.folder().resolve("e2e/lab.d/subvolumes").toString())
                .lines()
                .sorted()
                .toList();
    }
}
