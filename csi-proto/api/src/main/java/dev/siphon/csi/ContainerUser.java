package dev.siphon.csi;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The user in a container that maps to the volume's owner: it sees the owner's files as its own. No other user of
/// the container can create files. Set by a class parameter and in the volume context.
public sealed interface ContainerUser {
    /// The key in class parameters and volume contexts.
    String KEY = "containerUser";

    /// The largest uid and gid of Linux; the next number means "none".
    long MAX_ID = 0xFFFF_FFFEL;

    /// The user with these ids, independent of the owner's own.
    record Numbered(long uid, long gid) implements ContainerUser {
        @Override
        public String toString() {
            return uid + ":" + gid;
        }
    }

    /// The user with the owner's own uid and gid.
    record Same() implements ContainerUser {
        @Override
        public String toString() {
            return "account";
        }
    }

    /// Parses `root`, `account`, `UID` or `UID:GID`. The gid defaults to the uid: Linux gives most users a group
    /// with the same number.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else
    static ContainerUser parse(String text) {
        return switch (text) {
            case "account" -> new Same();
            case "root" -> new Numbered(0, 0);
            default -> numbered(text);
        };
    }

    private static ContainerUser numbered(String text) {
        Matcher matcher = Pattern.compile("([0-9]{1,10})(?::([0-9]{1,10}))?").matcher(text);
        if (!matcher.matches()) {
            throw malformed(text);
        }
        String gid = Optional.ofNullable(matcher.group(2)).orElse(matcher.group(1));
        return new Numbered(number(text, matcher.group(1)), number(text, gid));
    }

    private static long number(String text, String digits) {
        long number = Long.parseLong(digits);
        if (number > MAX_ID) {
            throw malformed(text);
        }
        return number;
    }

    private static DriverException malformed(String text) {
        return new DriverException.InvalidRequest(KEY + " " + QuotedText.of(text)
                + " must be root, account, UID or UID:GID, with numbers from 0 to " + MAX_ID);
    }
}
