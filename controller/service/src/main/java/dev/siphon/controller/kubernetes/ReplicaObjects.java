package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetReplica;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The `DatasetReplica` objects of the cluster.
final class ReplicaObjects {
    /// The path of the collection.
    static final String PATH =
            "apis/" + DatasetReplica.GROUP + "/" + DatasetReplica.VERSION + "/" + DatasetReplica.PLURAL;

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaObjects.class);
    private static final String METADATA = "metadata";

    private final Informer<OrderedReplica> informer;

    ReplicaObjects(KubernetesApi api) {
        this.informer = new Informer<>(
                api,
                new Informer.Source(
                        "DatasetReplicas",
                        PATH,
                        "",
                        250,
                        Keep.of("metadata.name", "metadata.creationTimestamp", "spec", "status")),
                (object, _) -> replica(object.kept()),
                System::nanoTime);
    }

    /// Watches the objects until the task is closed.
    ///
    /// @param changed as for [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        return informer.follow(tasks, changed);
    }

    /// Returns all objects; none if the cluster lacks this kind.
    List<OrderedReplica> all() {
        return informer.all();
    }

    /// Whether the cluster has this kind.
    boolean isServed() {
        return informer.isServed();
    }

    private static Optional<OrderedReplica> replica(JsonObject object) {
        String name = JsonParts.text(object, METADATA, "name").orElse("");
        try {
            DatasetReplica.Order order =
                    DatasetReplica.Order.ofSpec(JsonParts.object(object, "spec").orElseGet(JsonObject::new));
            Instant made = Instant.parse(
                    JsonParts.text(object, METADATA, "creationTimestamp").orElse(""));
            return Optional.of(new OrderedReplica(
                    name, made, order, JsonParts.object(object, "status").flatMap(DatasetReplica.Report::ofStatus)));
        } catch (DriverException | DateTimeParseException wrong) {
            LOG.warn("DatasetReplica {} is not what the driver writes: {}", name, wrong.getMessage());
            return Optional.empty();
        }
    }
}
