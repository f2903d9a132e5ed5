package dev.siphon.node.ceph;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.mount.ClientMount;
import java.time.Duration;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Explains why ceph-fuse did not mount. Recognizes errors by their text, as Ceph 18 and 20 print it.
final class FuseFailure {
    /// `ceph-fuse[12]: ceph mount failed with (2) No such file or directory`
    private static final Pattern MOUNT_FAILED = Pattern.compile("ceph mount failed with \\((\\d+)\\)");

    /// The monitors do not know the user, or the key is wrong.
    private static final String REFUSED = "handle_auth_bad_method";

    /// A line of ceph-fuse's log. It is written in one piece, so it may fall between two pieces of other output.
    private static final Pattern LOGGED =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+[+-]\\d{4} [0-9a-f]+ +-?\\d+ [^\n]*\n");

    private static final int EPERM = 1;
    private static final int ENOENT = 2;
    private static final int EACCES = 13;

    private FuseFailure() {}

    static DriverException explain(ClientMount mount, boolean inTime, Duration limit, String output) {
        String said = untangled(output);
        String what = "mounting " + mount.path() + " of file system " + mount.fileSystem() + " for volume "
                + mount.volume() + " as client." + mount.credentials().userId();
        if (!inTime) {
            return new DriverException.BackendUnavailable(what + " took longer than " + limit.toSeconds()
                    + " s: the monitors " + mount.monitors() + " or the MDS do not answer, or the MDS still waits for a"
                    + " client of this volume that died (60 s by default); " + shorten(said));
        }
        String message = what + " failed: " + shorten(said);
        Matcher failed = MOUNT_FAILED.matcher(said);
        if (failed.find()) {
            return switch (Integer.parseInt(failed.group(1))) {
                case EPERM, EACCES -> new DriverException.AccessDenied(message);
                case ENOENT -> new DriverException.NotFound(message);
                default -> new DriverException.BackendUnavailable(message);
            };
        }
        return said.contains(REFUSED)
                ? new DriverException.AccessDenied(message)
                : new DriverException.BackendUnavailable(message);
    }

    private static String untangled(String output) {
        String logged = LOGGED.matcher(output).results().map(MatchResult::group).collect(Collectors.joining());
        return LOGGED.matcher(output).replaceAll("") + "\n" + logged;
    }

    /// Returns the informative lines, quoted for a message.
    private static String shorten(String said) {
        return QuotedText.of(said.lines()
                .filter(line -> !line.isBlank() && !line.contains("init, ") && !line.contains("starting"))
                .collect(Collectors.joining("; ")));
    }
}
