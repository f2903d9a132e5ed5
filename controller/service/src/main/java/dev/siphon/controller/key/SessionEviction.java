package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The result of evicting sessions of a file system. A client with a valid ticket can reconnect after an
/// eviction, so eviction repeats until no session is left.
///
/// @param ended the evicted sessions, each once
/// @param left the sessions that were open when the time ran out
public record SessionEviction(List<ClientSession> ended, List<ClientSession> left) {
    /// How long to evict sessions that reappear.
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration PAUSE = Duration.ofMillis(200);

    public SessionEviction {
        ended = List.copyOf(ended);
        left = List.copyOf(left);
    }

    /// Evicts the sessions of a file system that `which` selects, until none is left or `patience` has passed.
    /// Idempotent.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not evict
    ///     sessions
    /// @throws DriverException if some could not be evicted in time
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
                // the next listing omits the sessions that were evicted
                if (System.nanoTime() > end) {
                    throw notAll;
                }
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /// Describes the sessions left, for people; empty if there are none.
    public Optional<String> leftInWords() {
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of("these sessions came back each time they were ended: " + inWords(left)
                        + "; block their addresses");
    }

    /// Lists sessions, for people.
    public static String inWords(List<ClientSession> sessions) {
        return sessions.stream()
                .map(session -> "client." + session.userId() + " at " + session.host() + "@" + session.address())
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
