package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// What was ended of a file system's sessions. Whoever has a ticket still can open another one after his was
/// ended, so it is looked again until there is none.
///
/// @param ended the sessions that were ended, each once
/// @param left those that were there still when the time was over
public record SessionEviction(List<ClientSession> ended, List<ClientSession> left) {
    /// How long to go on ending sessions that come again.
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration PAUSE = Duration.ofMillis(200);

    public SessionEviction {
        ended = List.copyOf(ended);
        left = List.copyOf(left);
    }

    /// Ends the sessions of a file system that `which` says, until there is none. Repeating it is safe.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not
    /// @throws DriverException if some could not be ended and the time is over
    public static SessionEviction of(
            ClientSessions sessions,
            String cluster,
            String fileSystem,
            Predicate<ClientSession> which,
            Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        List<ClientSession> ended = new ArrayList<>();
        while (true) {
            List<ClientSession> open =
                    sessions.all(cluster, fileSystem).stream().filter(which).toList();
            if (open.isEmpty() || (!ended.isEmpty() && System.nanoTime() > end)) {
                return new SessionEviction(ended.stream().distinct().toList(), open);
            }
            try {
                sessions.end(cluster, open);
                ended.addAll(open);
            } catch (DriverException.AccessDenied denied) {
                throw denied;
            } catch (DriverException notAll) {
                // those that were ended are not seen again
                if (System.nanoTime() > end) {
                    throw notAll;
                }
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /// What goes on, for people; empty if nothing does.
    public Optional<String> leftInWords() {
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of("these came again each time that they were ended: " + inWords(left)
                        + "; have their addresses blocked");
    }

    /// Sessions, for people.
    public static String inWords(List<ClientSession> sessions) {
        return sessions.stream()
                .map(session -> "client." + session.userId() + " at " + session.host() + "@" + session.address())
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
