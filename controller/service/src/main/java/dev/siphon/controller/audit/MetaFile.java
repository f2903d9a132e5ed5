package dev.siphon.controller.audit;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A `.meta` file of the mgr's module `volumes`, in the format of Python's ConfigParser
/// (`src/pybind/mgr/volumes/fs/operations/versions/metadata_manager.py`).
///
/// @param sections section to key to value, in the file's order; keys in lower case
public record MetaFile(Map<String, Map<String, String>> sections) {
    /// The section with the subvolume's type, path and state.
    public static final String GLOBAL = "GLOBAL";

    /// The section of notes, including Siphon's.
    static final String NOTES = "USER_METADATA";

    /// The section with the clones in progress: tracking id to snapshot.
    static final String CLONED = "clone snaps";

    /// The format of subvolumes that can retain snapshots, `SubvolumeV2`.
    private static final String VERSION = "2";

    private static final Pattern HEADER = Pattern.compile("\\[([^\\]]++)\\]\\s*+");
    private static final Pattern OPTION = Pattern.compile("([^\\s=:][^=:]*+)[=:](.*)");

    /// The text is not such a file; the message says why.
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

    /// Returns what the mgr writes for a complete subvolume.
    static MetaFile complete(String path) {
        return new MetaFile(Map.of()).completeAt(path);
    }

    /// Returns this file with the state of a complete subvolume.
    MetaFile completeAt(String path) {
        return with(GLOBAL, "version", VERSION)
                .with(GLOBAL, "type", "subvolume")
                .with(GLOBAL, "path", path)
                .with(GLOBAL, "state", "complete");
    }

    /// Parses a file.
    ///
    /// @throws Invalid if ConfigParser would reject it
    public static MetaFile parse(String text) throws Invalid {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        String section = "";
        String key = "";
        // the current option's value, which may span several lines
        StringBuilder value = new StringBuilder();
        for (String line : text.split("\n", -1)) {
            if (line.isBlank() || line.startsWith("#") || line.startsWith(";")) {
                continue;
            }
            if (!key.isEmpty() && Character.isWhitespace(line.charAt(0))) {
                value.append('\n').append(line.strip());
                continue;
            }
            end(sections, section, key, value);
            key = "";
            Matcher header = HEADER.matcher(line);
            if (header.matches()) {
                section = header.group(1);
                if (sections.put(section, new LinkedHashMap<>()) != null) {
                    throw new Invalid("has section " + section + " twice");
                }
                continue;
            }
            if (section.isEmpty()) {
                throw new Invalid("begins without a section");
            }
            Matcher option = OPTION.matcher(line);
            if (!option.matches()) {
                throw new Invalid("has a line that is no option");
            }
            key = option.group(1).stripTrailing().toLowerCase(Locale.ROOT);
            if (options(sections, section).containsKey(key)) {
                throw new Invalid("has " + key + " twice");
            }
            value = new StringBuilder(option.group(2).strip());
        }
        end(sections, section, key, value);
        return new MetaFile(sections);
    }

    /// Stores the current option, if there is one.
    private static void end(
            Map<String, Map<String, String>> sections, String section, String key, StringBuilder value) {
        if (!key.isEmpty()) {
            options(sections, section).put(key, value.toString());
        }
    }

    private static Map<String, String> options(Map<String, Map<String, String>> sections, String section) {
        return sections.computeIfAbsent(section, _ -> new LinkedHashMap<>());
    }

    /// Returns the value of an option; empty if there is none.
    Optional<String> value(String section, String key) {
        return Optional.ofNullable(sections.getOrDefault(section, Map.of()).get(key));
    }

    /// Returns the value of an option of [#GLOBAL]; "" if there is none.
    String global(String key) {
        return value(GLOBAL, key).orElse("");
    }

    /// Returns whether the format is one that the mgr gives to new subvolumes.
    boolean hasKnownFormat() {
        return global("version").equals(VERSION)
                && List.of("subvolume", "clone").contains(global("type"));
    }

    /// Returns a copy with another value of an option.
    MetaFile with(String section, String key, String value) {
        Map<String, Map<String, String>> changed = new LinkedHashMap<>();
        sections.forEach((name, options) -> changed.put(name, new LinkedHashMap<>(options)));
        options(changed, section).put(key, value);
        return new MetaFile(changed);
    }

    /// Returns a copy without an option, and without its section if that becomes empty.
    MetaFile without(String section, String key) {
        Map<String, Map<String, String>> changed = new LinkedHashMap<>();
        sections.forEach((name, options) -> changed.put(name, new LinkedHashMap<>(options)));
        options(changed, section).remove(key);
        changed.values().removeIf(Map::isEmpty);
        return new MetaFile(changed);
    }

    /// Returns the text as the mgr would write it.
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
