package dev.siphon.csi;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which user of a container is the account that owns the volume: the files of the one are the other's, and
/// nobody else in the container can make any. As a class's parameter and in a volume's context.
public sealed interface ContainerUser {
    /// Under which a class's parameters and a volume's context have it.
    String KEY = "containerUser";

    /// The largest uid and gid that Linux has; the one above means "none".
    long MAX_ID = 0xFFFF_FFFEL;

    /// The user with these numbers, whatever the account's own are.
    record Numbered(long uid, long gid) implements ContainerUser {
        @Override
        public String toString() {
            return uid + ":" + gid;
        }
    }

    /// The user with the account's own uid and gid.
    record Same() implements ContainerUser {
        @Override
        public String toString() {
            return "account";
        }
    }

    /// Reads `root`, `account`, `UID` or `UID:GID`. A gid that is left out is the uid: Linux gives most users a
    /// group of their own with their own number.
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
