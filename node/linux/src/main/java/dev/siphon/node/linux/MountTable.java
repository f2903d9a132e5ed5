package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The mounts in this process's mount namespace at one moment. The node has no other state of its volumes, so a
/// restart loses nothing.
///
/// @param entries in the kernel's order
public record MountTable(List<MountEntry> entries) {
    private static final Path OWN = Path.of("/proc/self/mountinfo");
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

    /// The number of fields before the optional ones (`shared:1` and so on), which a lone `-` ends.
    private static final int FIXED_FIELDS = 6;

    public MountTable {
        entries = List.copyOf(entries);
    }

    /// Reads the table. The kernel returns it from memory, without waiting for a file system.
    public static MountTable read() {
        return read(OWN);
    }

    /// Reads a table from `file`, of another process or machine.
    ///
    /// @throws UncheckedIOException if it cannot be read
    /// @throws IllegalArgumentException if a line does not have the form of proc(5)
    public static MountTable read(Path file) {
        try {
            // the kernel escapes octets, not characters, so decode octets first
            return parse(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }

    /// Parses a table, one octet per character.
    ///
    /// @throws IllegalArgumentException if a line does not have the form of proc(5)
    static MountTable parse(String octets) {
        // not String.lines(): a path may contain a carriage return, which the kernel does not escape
        Map<String, Set<String>> options = new HashMap<>(); // few differ, and a node has hundreds of mounts
        return new MountTable(Arrays.stream(octets.split("\n"))
                .filter(line -> !line.isEmpty())
                .map(line -> entry(line, options))
                .toList());
    }

    /// Returns the topmost mount at `path`, which must be free of symbolic links.
    public Optional<MountEntry> at(String path) {
        List<MountEntry> stacked =
                entries.stream().filter(e -> e.mountPoint().equals(path)).toList();
        Set<Long> covered = stacked.stream().map(MountEntry::parent).collect(Collectors.toSet());
        return stacked.stream().filter(e -> !covered.contains(e.id())).reduce((_, last) -> last);
    }

    /// Returns the mount that holds `path`: the one at the longest mount point that is `path` or a parent of it.
    public Optional<MountEntry> holding(String path) {
        return entries.stream()
                .map(MountEntry::mountPoint)
                .filter(point -> point.equals("/") || path.equals(point) || path.startsWith(point + "/"))
                .max(Comparator.comparingInt(String::length))
                .flatMap(this::at);
    }

    private static MountEntry entry(String line, Map<String, Set<String>> options) {
        List<String> fields = Arrays.asList(line.split(" ", -1));
        int dash = fields.subList(Math.min(FIXED_FIELDS, fields.size()), fields.size())
                .indexOf("-");
        int type = FIXED_FIELDS + dash + 1;
        if (dash < 0 || fields.size() < type + 3) {
            throw new IllegalArgumentException("not a line of a mount table: " + line);
        }
        return new MountEntry(
                Long.parseLong(fields.get(0)),
                Long.parseLong(fields.get(1)),
                fields.get(2),
                unescape(fields.get(3)),
                unescape(fields.get(4)),
                options.computeIfAbsent(fields.get(5), MountTable::options),
                fields.get(type),
                unescape(fields.get(type + 1)),
                options.computeIfAbsent(fields.get(type + 2), MountTable::options));
    }

    private static Set<String> options(String text) {
        return Arrays.stream(text.split(",")).map(MountTable::unescape).collect(Collectors.toUnmodifiableSet());
    }

    private static String unescape(String octets) {
        String raw = octets.indexOf('\\') < 0
                ? octets
                : ESCAPE.matcher(octets)
                        .replaceAll(match -> Matcher.quoteReplacement(
                                Character.toString((char) Integer.parseInt(match.group(1), 8))));
        return new String(raw.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
