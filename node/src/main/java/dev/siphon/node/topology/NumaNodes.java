package dev.siphon.node.topology;

import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The NUMA nodes of the machine: one for each socket, or several.
///
/// @param numbers ascending; none where the kernel tells nothing
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

    /// The node if there is but one: then every device is there, whether or not it says so.
    OptionalInt only() {
        return numbers.size() == 1 ? OptionalInt.of(numbers.getFirst()) : OptionalInt.empty();
    }
}
