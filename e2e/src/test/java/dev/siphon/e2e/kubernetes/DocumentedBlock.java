package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A block of shell commands, or of YAML, in the docs.
///
/// @param script the whole block
record DocumentedBlock(String script) {
    /// Returns the first fenced block below a heading.
    static DocumentedBlock below(String heading, String page) {
        return below(heading, page, 1);
    }

    /// Returns the fenced block of that number below a heading.
    static DocumentedBlock below(String heading, String page, int number) {
        return below(heading, page, number, "");
    }

    /// Returns the first block of YAML below a heading.
    static DocumentedBlock yamlBelow(String heading, String page) {
        return below(heading, page, 1, "yaml");
    }

    private static DocumentedBlock below(String heading, String page, int number, String language) {
        try {
            String text = Files.readString(Project.folder().resolve("docs").resolve(page));
            String block = "(?:(?!^## ).)*?^```" + language + "\\n(.*?)^```$";
            Matcher found = Pattern.compile("(?ms)^" + Pattern.quote(heading) + "$" + block.repeat(number))
                    .matcher(text);
            if (!found.find()) {
                throw new IllegalStateException(page + " has no block " + number + " below " + heading);
            }
            return new DocumentedBlock(found.group(number));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Replaces the first line, in which users put their own values.
    ///
    /// @param example how that line begins
    DocumentedBlock with(String example, String own) {
        if (!script.startsWith(example)) {
            throw new IllegalStateException("the block does not begin with " + example + ": " + script);
        }
        return new DocumentedBlock(own + script.substring(script.indexOf('\n')));
    }

    /// Replaces a text that the block must contain.
    DocumentedBlock replacing(String text, String other) {
        if (!script.contains(text)) {
            throw new IllegalStateException("the block has no " + text + ": " + script);
        }
        return new DocumentedBlock(script.replace(text, other));
    }

    /// Runs the block unchanged in a folder, with an administrator's `kubectl`. Each of its commands must succeed.
    String run(Path folder) {
        return run(folder, Cluster.PATIENCE.multipliedBy(3));
    }

    /// Does the same within another time.
    String run(Path folder, Duration atMost) {
        try {
            Path kubectl = Files.createFile(
                    folder.resolve("kubectl"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.writeString(kubectl, "#!/bin/sh\nexec " + Project.folder().resolve("e2e/lab") + " kubectl \"$@\"\n");
            Path pasted = Files.writeString(folder.resolve("pasted"), script);
            return Command.run(
                    atMost, List.of("env", "--chdir=" + folder, "bash", "-c", """
                            PATH=$PWD:$PATH
                            set -euxo pipefail
                            . "$1"
                            """, "bash", pasted.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
