package dev.siphon.node.registration;

import dev.siphon.csi.server.StartFailure;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Registers this driver with the kubelet. The kubelet watches a directory for sockets, queries each one for its
/// plugin, and reports the result.
///
/// A starting kubelet scans the directory, and so finds this driver again. After a failed registration, it retries
/// only if the socket reappears (Kubernetes 1.36, `pkg/kubelet/pluginmanager`). So the socket is recreated after a
/// refusal: first after 4 s, then with growing delays up to 1 min. It is also recreated if it was removed.
public final class Registration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(4);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// The maximum length of the kubelet's reason in messages. It holds no secret, but quotes its subject
    /// repeatedly.
    private static final int MAX_REASON_CHARS = 1_000;

    private final KubeletPlugin plugin;
    private final InstantSource clock;
    private final Counter outcomes;
    private RegistrationState state = new Offered();
    private Optional<ServedSocket> socket = Optional.empty();
    private Optional<SocketOpener> opener = Optional.empty();
    private Duration pause = FIRST_PAUSE;

    /// The socket that serves the kubelet's registration calls.
    public interface ServedSocket extends AutoCloseable {
        /// Returns whether the kubelet can find it.
        boolean isInPlace();

        /// Removes it, if it still exists.
        @Override
        void close();
    }

    /// Creates the socket.
    @FunctionalInterface
    public interface SocketOpener {
        /// @throws StartFailure if the directory is missing, or another process uses that socket
        ServedSocket open();
    }

    private sealed interface RegistrationState {}

    /// The kubelet has not responded yet.
    private record Offered() implements RegistrationState {}

    private record Accepted() implements RegistrationState {}

    /// @param next when to offer the driver again
    private record Refused(String reason, Instant next) implements RegistrationState {}

    /// The socket was lost and could not be recreated.
    private record NotOffered(String reason) implements RegistrationState {}

    /// Creates a registration that is not offered to the kubelet before [#open].
    public Registration(KubeletPlugin plugin, InstantSource clock, PrometheusRegistry metrics) {
        this.plugin = plugin;
        this.clock = clock;
        this.outcomes = Counter.builder()
                .name("siphon_kubelet_registrations_total")
                .help("The kubelet's answers to the driver's registration: accepted or refused.")
                .labelNames("result")
                .register(metrics);
        GaugeWithCallback.builder()
                .name("siphon_kubelet_registered")
                .help("1 if the kubelet has registered the driver, else 0.")
                .callback(callback -> callback.call(isAccepted() ? 1 : 0))
                .register(metrics);
    }

    /// Returns the driver's data for the kubelet.
    public KubeletPlugin plugin() {
        return plugin;
    }

    /// Offers the driver to the kubelet, which may call it from then on.
    ///
    /// @throws StartFailure as [SocketOpener#open]
    public synchronized void open(SocketOpener how) {
        socket = Optional.of(how.open());
        opener = Optional.of(how);
        LOG.atInfo()
                .addKeyValue("socket", plugin.socket())
                .addKeyValue("endpoint", plugin.endpoint())
                .log("offered to the kubelet");
    }

    /// Records that the kubelet has registered the driver.
    public synchronized void accepted() {
        outcomes.labelValues("accepted").inc();
        LOG.atInfo().addKeyValue("driver", plugin.name()).log("registered with the kubelet");
        state = new Accepted();
        pause = FIRST_PAUSE;
    }

    /// Records that the kubelet has refused the driver.
    ///
    /// @param reason the kubelet's message
    public synchronized void refused(String reason) {
        outcomes.labelValues("refused").inc();
        LOG.atError()
                .addKeyValue("driver", plugin.name())
                .addKeyValue("reason", reason)
                .log("refused by the kubelet");
        String shown = reason.length() > MAX_REASON_CHARS ? reason.substring(0, MAX_REASON_CHARS) : reason;
        state = new Refused(
                shown.isBlank() ? "it gave no reason" : shown, clock.instant().plus(pause));
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    /// Returns why the kubelet does not use the driver; empty if it does. Recreates the socket when that is due, so
    /// call this every few seconds.
    public synchronized Optional<String> check() {
        if (socket.filter(this::mayStay).isEmpty()) {
            opener.ifPresent(this::openAnew);
        }
        return switch (state) {
            case Offered _ ->
                Optional.of("the kubelet has not registered the driver yet; does it watch "
                        + plugin.socket().path() + "?");
            case Accepted _ -> Optional.empty();
            case Refused refused ->
                Optional.of("the kubelet did not register the driver, and is asked again: " + refused.reason());
            case NotOffered lost -> Optional.of("the kubelet cannot be asked to register the driver: " + lost.reason());
        };
    }

    private boolean mayStay(ServedSocket open) {
        return open.isInPlace()
                && !(state instanceof Refused refused && !clock.instant().isBefore(refused.next()));
    }

    private void openAnew(SocketOpener how) {
        socket.ifPresent(ServedSocket::close);
        socket = Optional.empty();
        try {
            socket = Optional.of(how.open());
            LOG.atInfo().addKeyValue("socket", plugin.socket()).log("offered to the kubelet again");
            state = switch (state) {
                // keeps the reason until the kubelet responds again
                case Refused refused ->
                    new Refused(refused.reason(), clock.instant().plus(pause));
                case Offered _, Accepted _, NotOffered _ -> new Offered();
            };
        } catch (StartFailure e) {
            state = new NotOffered(String.valueOf(e.getMessage()));
        }
    }

    private synchronized boolean isAccepted() {
        return state instanceof Accepted;
    }

    /// Removes the socket, so that the kubelet unregisters the driver.
    @Override
    public synchronized void close() {
        opener = Optional.empty();
        socket.ifPresent(ServedSocket::close);
        socket = Optional.empty();
        state = new Offered();
    }
}
