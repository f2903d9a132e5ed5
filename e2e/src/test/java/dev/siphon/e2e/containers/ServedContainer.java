package dev.siphon.e2e.containers;

import csi.v1.ProbeRequest;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.lab.Await;
import java.nio.file.Files;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// A container that serves CSI on a socket of this host.
record ServedContainer(EngineContainer container, CsiClient client) {
    private static final Duration READY_LIMIT = Duration.ofSeconds(60);
    private static final Duration PROBE_LIMIT = Duration.ofSeconds(5);

    /// Starts the container and waits until its probe reports ready.
    static ServedContainer start(Containers containers, EngineContainer container, UnixEndpoint endpoint) {
        containers.start(container);
        await(container, endpoint + " is there", () -> Files.exists(endpoint.path()));
        CsiClient client = CsiClient.to(endpoint);
        containers.atEnd(client::close);
        await(container, endpoint + " is ready", () -> isReady(client));
        return new ServedContainer(container, client);
    }

    private static void await(EngineContainer container, String what, BooleanSupplier condition) {
        Await.until(what, READY_LIMIT, () -> {
            if (!container.isRunning()) {
                throw new AssertionError("the container ended:\n" + container.getLogs());
            }
            return condition.getAsBoolean();
        });
    }

    private static boolean isReady(CsiClient client) {
        return Outcome.of(() -> client.within(PROBE_LIMIT).identity().probe(ProbeRequest.getDefaultInstance()))
                .response()
                .filter(answer -> answer.getReady().getValue())
                .isPresent();
    }
}
