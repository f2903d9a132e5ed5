package dev.siphon.node.kubernetes;

import dev.siphon.csi.DriverException;
import dev.siphon.node.pod.PodEvents;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells those who look after this node, by an event on it, that a cache directory is missing or its disk fails. What
/// the API does not take is in the log, and is said again for a minute.
///
/// @param api where the event goes
public record CacheEvents(EventsApi api) implements Consumer<String> {
    private static final Logger LOG = LoggerFactory.getLogger(CacheEvents.class);

    /// In CamelCase, for programs.
    static final String REASON = "CacheDirectoryUnusable";

    /// The API takes 1,024 bytes.
    private static final int MAX_MESSAGE = 900;

    /// An API server may be as busy as the node when that starts.
    private static final int ATTEMPTS = 5;

    private static final Duration PAUSE = Duration.ofSeconds(10);

    @Override
    public void accept(String why) {
        String message = why.substring(0, Math.min(why.length(), MAX_MESSAGE))
                + "; datasets are read from elsewhere until the next try";
        Thread.ofVirtual().name("cache-event").start(() -> tell(message));
    }

    private void tell(String message) {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                api.addToNode(new PodEvents.Event(PodEvents.Type.WARNING, REASON, message));
                return;
            } catch (DriverException notTaken) {
                LOG.atWarn()
                        .addKeyValue("event", message)
                        .addKeyValue("reason", notTaken.getMessage())
                        .log("could not add an event about a cache directory to the node");
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }
}
