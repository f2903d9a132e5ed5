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

/// The registration of this driver with the kubelet, which looks for sockets in a folder, asks each who serves it,
/// and says what came of that.
///
/// A kubelet that starts looks through the folder, so it finds this driver again by itself. One that could not
/// register a driver leaves it at that, unless the socket appears anew (Kubernetes 1.36,
/// `pkg/kubelet/pluginmanager`): so after a refusal the socket is made anew, soon at first and later less
/// often. So it is if somebody removed it.
public final class Registration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(4);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// What of the kubelet's words is shown. They hold no secret, and quote what they are about more than once.
    private static final int MAX_REASON_CHARS = 1_000;

    private final KubeletPlugin plugin;
    private final InstantSource clock;
    private final Counter outcomes;
    private RegistrationState state = new Offered();
    private Optional<Door> door = Optional.empty();
    private Optional<SocketOpener> opener = Optional.empty();
    private Duration pause = FIRST_PAUSE;

    /// A socket on which the kubelet is answered.
    public interface Door extends AutoCloseable {
        /// Whether the kubelet finds it.
        boolean isInPlace();

        /// Takes it away, if it is still there.
        @Override
        void close();
    }

    /// Makes the socket.
    @FunctionalInterface
    public interface SocketOpener {
        /// @throws StartFailure if the folder is missing, or somebody else has that socket
        Door open();
    }

    private sealed interface RegistrationState {}

    /// The kubelet has not said anything yet.
    private record Offered() implements RegistrationState {}

    private record Accepted() implements RegistrationState {}

    /// @param next when to offer it again
    private record Refused(String reason, Instant next) implements RegistrationState {}

    /// The socket was lost and could not be made anew.
    private record NotOffered(String reason) implements RegistrationState {}

    /// Not offered to the kubelet before [#open].
    public Registration(KubeletPlugin plugin, InstantSource clock, PrometheusRegistry metrics) {
        this.plugin = plugin;
        this.clock = clock;
        this.outcomes = Counter.builder()
                .name("siphon_kubelet_registrations_total")
                .help("What the kubelet said when it had found the driver: accepted or refused.")
                .labelNames("result")
                .register(metrics);
        GaugeWithCallback.builder()
                .name("siphon_kubelet_registered")
                .help("1 if the kubelet has registered the driver, else 0.")
                .callback(callback -> callback.call(isAccepted() ? 1 : 0))
                .register(metrics);
    }

    /// What the kubelet is told.
    public KubeletPlugin plugin() {
        return plugin;
    }

    /// Offers the driver to the kubelet, which may call it from now on.
    ///
    /// @throws StartFailure as [SocketOpener#open]
    public synchronized void open(SocketOpener how) {
        door = Optional.of(how.open());
        opener = Optional.of(how);
        LOG.atInfo()
                .addKeyValue("socket", plugin.socket())
                .addKeyValue("endpoint", plugin.endpoint())
                .log("offered to the kubelet");
    }

    /// The kubelet has registered the driver.
    public synchronized void accepted() {
        outcomes.labelValues("accepted").inc();
        LOG.atInfo().addKeyValue("driver", plugin.name()).log("registered with the kubelet");
        state = new Accepted();
        pause = FIRST_PAUSE;
    }

    /// The kubelet has not registered the driver.
    ///
    /// @param reason in the kubelet's words
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

    /// What keeps the kubelet from using the driver; empty if nothing does. Offers the driver anew where that is
    /// due, so it has to be asked every few seconds.
    public synchronized Optional<String> check() {
        if (door.filter(this::mayStay).isEmpty()) {
            opener.ifPresent(this::openAnew);
        }
        return switch (state) {
            case Offered _ ->
                Optional.of("the kubelet has not registered the driver yet; does it look at "
                        + plugin.socket().path() + "?");
            case Accepted _ -> Optional.empty();
            case Refused refused ->
                Optional.of("the kubelet did not register the driver, and is asked again: " + refused.reason());
            case NotOffered lost -> Optional.of("the kubelet cannot be asked to register the driver: " + lost.reason());
        };
    }

    private boolean mayStay(Door open) {
        return open.isInPlace()
                && !(state instanceof Refused refused && !clock.instant().isBefore(refused.next()));
    }

    private void openAnew(SocketOpener how) {
        door.ifPresent(Door::close);
        door = Optional.empty();
        try {
            door = Optional.of(how.open());
            LOG.atInfo().addKeyValue("socket", plugin.socket()).log("offered to the kubelet again");
            state = switch (state) {
                // its words are shown until it has said something else
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

    /// Takes the socket away: the kubelet forgets the driver.
    @Override
    public synchronized void close() {
        opener = Optional.empty();
        door.ifPresent(Door::close);
        door = Optional.empty();
        state = new Offered();
    }
}
