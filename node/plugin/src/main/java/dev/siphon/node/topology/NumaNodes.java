package dev.siphon.node.topology;

import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The NUMA nodes of the machine: one or several per socket.
///
/// @param numbers ascending; empty if the kernel reports none
public record NumaNodes(List<Integer> numbers) {
    private static final Pattern NAME = Pattern.compile("node([0-9]{1,6})");

    public NumaNodes {
        numbers = List.copyOf(numbers);
    }

    static NumaNodes read(MachineRoots roots) {
        return new NumaNodes(MachineFiles.entries(roots.sys().resolve("devices/system/node")).stream()
                .map(entry -> NAME.matcher(MachineFiles.name(entry)))
                .filter(Matcher::matches)
                .map(match -> Integer.parseInt(match.group(1)))
                .sorted()
                .toList());
    }

    /// Returns the node if there is only one: then every device belongs to it, even if sysfs does not show that.
    OptionalInt only() {
        return numbers.size() == 1 ? OptionalInt.of(numbers.getFirst()) : OptionalInt.empty();
    }
}
