package dev.siphon.node.inline;

import dev.siphon.node.grant.NamespacePlaces;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.pod.PodEvents;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Services for inline volumes that show nothing without the controller's answer.
public final class NeverOffline {
    private NeverOffline() {}

    /// @param folder for their records
    public static Inline in(Path folder, NodeVolumes volumes, InlineDatasets datasets) {
        PublishedPods published = new PublishedPods(folder.resolve("pods"));
        PrometheusRegistry metrics = new PrometheusRegistry();
        return new Inline(
                new InlineVolumes(folder.resolve("inline")),
                datasets,
                new OfflineDatasets(
                        folder.resolve("offline"),
                        Duration.ZERO,
                        new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty()),
                        volumes,
                        datasets,
                        published,
                        new PodHealth(published, PodEvents.NOWHERE, metrics),
                        metrics,
                        System::nanoTime));
    }
}
