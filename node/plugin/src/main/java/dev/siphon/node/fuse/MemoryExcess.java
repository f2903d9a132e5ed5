package dev.siphon.node.fuse;

import dev.siphon.csi.ByteSize;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The decision to kill one process because all FUSE processes of a node exceed their total. It picks the largest
/// of the owner with the most memory, so that having many small ones does not help.
///
/// @param largest the process to kill
/// @param ownerBytes the memory of its owner's processes
/// @param totalBytes the memory of all processes
record MemoryExcess(ProcessMemory largest, long ownerBytes, long totalBytes) {
    /// The memory of a process.
    ///
    /// @param owner as of [FuseStart#owner]
    record ProcessMemory(long pid, String owner, long bytes) {}

    /// Selects processes one by one, until the rest has at most `limitBytes`.
    static List<MemoryExcess> of(List<ProcessMemory> uses, long limitBytes) {
        List<ProcessMemory> left = new ArrayList<>(uses);
        List<MemoryExcess> excess = new ArrayList<>();
        long total = sum(left);
        while (total > limitBytes) {
            MemoryExcess next = next(left, total);
            excess.add(next);
            left.remove(next.largest());
            total -= next.largest().bytes();
        }
        return excess;
    }

    private static long sum(List<ProcessMemory> uses) {
        return uses.stream().mapToLong(ProcessMemory::bytes).sum();
    }

    private static MemoryExcess next(List<ProcessMemory> uses, long total) {
        Map.Entry<String, Long> most = uses.stream()
                .collect(Collectors.groupingBy(ProcessMemory::owner, Collectors.summingLong(ProcessMemory::bytes)))
                .entrySet()
                .stream()
                .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .orElseThrow();
        ProcessMemory largest = uses.stream()
                .filter(use -> use.owner().equals(most.getKey()))
                .max(Comparator.comparingLong(ProcessMemory::bytes).thenComparingLong(ProcessMemory::pid))
                .orElseThrow();
        return new MemoryExcess(largest, most.getValue(), total);
    }

    /// Returns the reason for the log.
    String describe(long limitBytes) {
        return "all FUSE processes of the node together used " + ByteSize.text(totalBytes) + ", more than "
                + ByteSize.text(limitBytes) + "; " + largest.owner() + " used the most, " + ByteSize.text(ownerBytes)
                + ", and this was its largest, with " + ByteSize.text(largest.bytes());
    }
}
