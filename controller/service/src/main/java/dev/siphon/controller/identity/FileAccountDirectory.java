package dev.siphon.controller.identity;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Reads accounts from files in the formats of passwd(5) and group(5); needs no server.
///
/// Reads the files at each lookup, so that a new account exists at once. They have no id that survives a rename, so
/// name and uid together are the id. They have no allowances.
public final class FileAccountDirectory implements AccountDirectory {
    private static final int PASSWD_FIELDS = 7;
    private static final int GROUP_FIELDS = 4;

    private final Path passwd;
    private final Path group;

    /// @param passwd accounts: `name:x:uid:gid:comment:home:shell`
    /// @param group groups: `name:x:gid:member,member`
    public FileAccountDirectory(Path passwd, Path group) {
        this.passwd = passwd;
        this.group = group;
    }

    @Override
    public Optional<Account> account(String name) {
        if (name.startsWith(GROUP)) {
            return group(name);
        }
        for (String[] fields : named(passwd, PASSWD_FIELDS, name)) {
            int uid = number(passwd, fields[2]);
            int gid = number(passwd, fields[3]);
            return Optional.of(
                    new Account(name, "file:" + uid + ":" + name, uid, gid, groups(name, gid), OptionalLong.empty()));
        }
        return Optional.empty();
    }

    @Override
    public void accounts(Consumer<Account> each) {
        Stream<String> people = lines(passwd, PASSWD_FIELDS).stream().map(fields -> fields[0]);
        Stream<String> groups = lines(group, GROUP_FIELDS).stream().map(fields -> GROUP + fields[0]);
        Stream.concat(people, groups)
                .distinct()
                .flatMap(name -> usable(name).stream())
                .forEach(each);
    }

    /// Returns the account of that name, unless two lines have it.
    private Optional<Account> usable(String name) {
        try {
            return account(name);
        } catch (DriverException.BackendFault ambiguous) {
            return Optional.empty();
        }
    }

    private Optional<Account> group(String name) {
        String bare = name.substring(GROUP.length());
        for (String[] fields : named(group, GROUP_FIELDS, bare)) {
            int gid = number(group, fields[2]);
            return Optional.of(
                    new Account(name, "file:group:" + gid + ":" + bare, 0, gid, Set.of(bare), OptionalLong.empty()));
        }
        return Optional.empty();
    }

    /// Returns the line of that name, if there is one.
    private static List<String[]> named(Path file, int fields, String name) {
        List<String[]> found = lines(file, fields).stream()
                .filter(line -> line[0].equals(name))
                .toList();
        if (found.size() > 1) {
            throw new DriverException.BackendFault(
                    "the directory file " + file + " has several lines for " + QuotedText.of(name));
        }
        return found;
    }

    private Set<String> groups(String name, int gid) {
        Set<String> groups = new HashSet<>();
        for (String[] fields : lines(group, GROUP_FIELDS)) {
            if (number(group, fields[2]) == gid || List.of(fields[3].split(",")).contains(name)) {
                groups.add(fields[0]);
            }
        }
        return groups;
    }

    private static List<String[]> lines(Path file, int fields) {
        try {
            List<String[]> lines = new ArrayList<>();
            for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                String[] parts = line.split(":", -1);
                if (parts.length == fields) {
                    lines.add(parts);
                } else if (!line.isBlank() && !line.startsWith("#")) {
                    throw new DriverException.BackendUnavailable("the directory file " + file + " has a line of "
                            + parts.length + " fields, expected " + fields);
                }
            }
            return lines;
        } catch (IOException unreadable) {
            throw new DriverException.BackendUnavailable("the directory file " + file + " cannot be read", unreadable);
        }
    }

    private static int number(Path file, String text) {
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException notANumber) {
            throw new DriverException.BackendUnavailable(
                    "the directory file " + file + " has \"" + text + "\" where a uid or gid belongs", notANumber);
        }
    }
}
