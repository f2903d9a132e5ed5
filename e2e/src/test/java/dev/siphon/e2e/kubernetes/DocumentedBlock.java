package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Commands for a shell as a page of docs has them.
///
/// @param script all of the block
record DocumentedBlock(String script) {
    /// The first fenced block below a heading.
    static DocumentedBlock below(String heading, String page) {
        return below(heading, page, 1);
    }

    /// The fenced block of that number below a heading.
    static DocumentedBlock below(String heading, String page, int number) {
        try {
            String text = Files.readString(Project.folder().resolve("docs").resolve(page));
            String block = "(?:(?!^## ).)*?^```\\n(.*?)^```$";
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

    /// The same with another first line, in which people write what is theirs.
    ///
    /// @param example how that line begins
    DocumentedBlock with(String example, String own) {
        if (!script.startsWith(example)) {
            throw new IllegalStateException("the block does not begin with " + example + ": " + script);
        }
        return new DocumentedBlock(own + script.substring(script.indexOf('\n')));
    }

    /// The same with something else in the place of a text that must be in it.
    DocumentedBlock replacing(String text, String other) {
        if (!script.contains(text)) {
            throw new IllegalStateException("the block has no " + text + ": " + script);
        }
        return new DocumentedBlock(script.replace(text, other));
    }

    /// Runs it in a folder, as it stands, where `kubectl` is an administrator's. It must succeed in each of its
    /// commands.
    String run(Path folder) {
        try {
            Path kubectl = Files.createFile(
                    folder.resolve("kubectl"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.writeString(kubectl, "#!/bin/sh\nexec " + Project.folder().resolve("e2e/lab") + " kubectl \"$@\"\n");
            Path pasted = Files.writeString(folder.resolve("pasted"), script);
            return Command.run(
                    Cluster.PATIENCE.multipliedBy(3),
                    List.of("env", "--chdir=" + folder, "bash", "-c", """
                            PATH=$PWD:$PATH
                            set -euxo pipefail
                            . "$1"
                            """, "bash", pasted.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
