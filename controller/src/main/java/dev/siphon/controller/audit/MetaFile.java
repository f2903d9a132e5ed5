package dev.siphon.controller.audit;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A `.meta` file of the mgr's module `volumes`, in the form of Python's ConfigParser
/// (`src/pybind/mgr/volumes/fs/operations/versions/metadata_manager.py`).
///
/// @param sections section to key to value, in the file's order; keys in lower case
public record MetaFile(Map<String, Map<String, String>> sections) {
    /// The section that says what and where the subvolume is.
    public static final String GLOBAL = "GLOBAL";

    /// The section of notes, Siphon's among them.
    static final String NOTES = "USER_METADATA";

    /// The section with the clones that are being made of snapshots: tracking id to snapshot.
    static final String CLONED = "clone snaps";

    /// The format of subvolumes that retain snapshots, `SubvolumeV2`.
    private static final String VERSION = "2";

    private static final Pattern HEADER = Pattern.compile("\\[([^\\]]+)\\]\\s*");
    private static final Pattern OPTION = Pattern.compile("([^\\s=:][^=:]*?)\\s*[=:]\\s*(.*)");

    /// Text that is no such file; the message says why.
    public static final class Invalid extends Exception {
        private static final long serialVersionUID = 1L;

        Invalid(String message) {
            super(message);
        }
    }

    public MetaFile {
        Map<String, Map<String, String>> copy = new LinkedHashMap<>();
        sections.forEach((name, options) -> copy.put(name, Collections.unmodifiableMap(new LinkedHashMap<>(options))));
        sections = Collections.unmodifiableMap(copy);
    }

    /// What the mgr writes for a subvolume that is complete.
    static MetaFile complete(String path) {
        return new MetaFile(Map.of()).completeAt(path);
    }

    /// This file, of a subvolume that is complete.
    MetaFile completeAt(String path) {
        return with(GLOBAL, "version", VERSION)
                .with(GLOBAL, "type", "subvolume")
                .with(GLOBAL, "path", path)
                .with(GLOBAL, "state", "complete");
    }

    /// Reads a file.
    ///
    /// @throws Invalid if ConfigParser would refuse it
    public static MetaFile parse(String text) throws Invalid {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        String section = "";
        String key = "";
        for (String line : text.split("\n", -1)) {
            Matcher header = HEADER.matcher(line);
            Matcher option = OPTION.matcher(line);
            if (line.isBlank() || line.startsWith("#") || line.startsWith(";")) {
                continue;
            }
            if (header.matches()) {
                section = header.group(1);
                key = "";
                if (sections.put(section, new LinkedHashMap<>()) != null) {
                    throw new Invalid("has section " + section + " twice");
                }
            } else if (section.isEmpty()) {
                throw new Invalid("begins without a section");
            } else if (Character.isWhitespace(line.charAt(0)) && !key.isEmpty()) {
                String more = line.strip();
                options(sections, section).computeIfPresent(key, (_, value) -> value + "\n" + more);
            } else if (option.matches()) {
                key = option.group(1).toLowerCase(Locale.ROOT);
                if (options(sections, section).put(key, option.group(2).strip()) != null) {
                    throw new Invalid("has " + key + " twice");
                }
            } else {
                throw new Invalid("has a line that is no option");
            }
        }
        return new MetaFile(sections);
    }

    private static Map<String, String> options(Map<String, Map<String, String>> sections, String section) {
        return sections.computeIfAbsent(section, _ -> new LinkedHashMap<>());
    }

    /// The value of an option; empty if there is none.
    Optional<String> value(String section, String key) {
        return Optional.ofNullable(sections.getOrDefault(section, Map.of()).get(key));
    }

    /// The value of an option of [#GLOBAL]; "" if there is none.
    String global(String key) {
        return value(GLOBAL, key).orElse("");
    }

    /// Whether the format is one that the mgr gives to new subvolumes.
    boolean hasKnownFormat() {
        return global("version").equals(VERSION)
                && List.of("subvolume", "clone").contains(global("type"));
    }

    /// This file with another value of an option.
    MetaFile with(String section, String key, String value) {
        Map<String, Map<String, String>> changed = new LinkedHashMap<>();
        sections.forEach((name, options) -> changed.put(name, new LinkedHashMap<>(options)));
        options(changed, section).put(key, value);
        return new MetaFile(changed);
    }

    /// This file without an option, and without its section if that is empty then.
    MetaFile without(String section, String key) {
        Map<String, Map<String, String>> changed = new LinkedHashMap<>();
        sections.forEach((name, options) -> changed.put(name, new LinkedHashMap<>(options)));
        options(changed, section).remove(key);
        changed.values().removeIf(Map::isEmpty);
        return new MetaFile(changed);
    }

    /// The file as the mgr would write it.
    public String text() {
        StringBuilder text = new StringBuilder();
        sections.forEach((name, options) -> {
            text.append('[').append(name).append("]\n");
            options.forEach((key, value) -> text.append(key)
                    .append(" = ")
                    .append(value.replace("\n", "\n\t"))
                    .append('\n'));
            text.append('\n');
        });
        return text.toString();
    }
}
