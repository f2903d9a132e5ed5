package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.AdditionalSelectableField;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/// A replica of a dataset that the controller orders on a disk of a node (`spec`), and the node's progress
/// (`status`).
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("DatasetReplica")
@JsonClassDescription("A replica of a dataset that a node is to have on a disk.")
// lets a node watch only its own replicas
@AdditionalSelectableField(jsonPath = ".spec.node")
@AdditionalPrinterColumn(name = "Dataset", jsonPath = ".spec.dataset")
@AdditionalPrinterColumn(name = "Node", jsonPath = ".spec.node")
@AdditionalPrinterColumn(name = "Wanted", type = AdditionalPrinterColumn.Type.BOOLEAN, jsonPath = ".spec.wanted")
@AdditionalPrinterColumn(name = "State", jsonPath = ".status.state")
@AdditionalPrinterColumn(name = "Percent", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.percent")
@AdditionalPrinterColumn(name = "Directory", jsonPath = ".status.cacheDirectory", priority = 1)
@AdditionalPrinterColumn(
        name = "Bytes",
        type = AdditionalPrinterColumn.Type.INTEGER,
        jsonPath = ".status.bytes",
        priority = 1)
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.message")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetReplicaObject extends CustomResource<DatasetReplicaObject.Spec, DatasetReplicaObject.Status> {
    /// The controller's order.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Spec(
            @Required @Size(max = 253) @JsonPropertyDescription("The name of the Dataset.") @Nullable
            String dataset,

            @Required @Size(max = 253) @JsonPropertyDescription("The node.") @Nullable
            String node,

            @Required
            @Size(max = 256)
            @JsonPropertyDescription("The id of the volume that shows the dataset.")
            @Nullable
            String volume,

            @Required @JsonPropertyDescription("Whether the node is to keep the replica.") @Nullable
            Boolean wanted,

            @JsonPropertyDescription("The reply to the node's request for the dataset's key.")
            DatasetAccessObject.@Nullable Status access,

            @JsonPropertyDescription("The node's place in the cluster's queue of fills, if the cluster has a limit.")
            @Nullable
            Turn turn) {}

    /// The controller's word on when the node may fill the replica.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Turn(
            @Required @JsonPropertyDescription("Whether the node may fill the replica now.") @Nullable
            Boolean given,

            @Min(0) @JsonPropertyDescription("How many fills wait before this one.") @Nullable
            Integer before,

            @Min(0) @JsonPropertyDescription("The fill's status.progressBytes at renewed.") @Nullable
            Long progressBytes,

            @Required
            @Size(max = 40)
            @JsonPropertyDescription(
                    "When the turn was given, or the wait began. It begins later if the node's turn took over 15 minutes.")
            @Nullable
            String since,

            @Required
            @Size(max = 40)
            @JsonPropertyDescription("When the controller last confirmed the wait, or saw the fill proceed.")
            @Nullable
            String renewed) {}

    /// The node's progress.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription(
                    "Absent, Waiting, Queued (for its turn), Filling, Local (whole and verified) or Failed.")
            @Nullable
            State state,

            @Min(0) @Max(100) @JsonPropertyDescription("How much of the image is on the disk, in percent.") @Nullable
            Integer percent,

            @Min(0) @JsonPropertyDescription("How many bytes the replica takes in the cache directory.") @Nullable
            Long bytes,

            @Min(0)
            @JsonPropertyDescription("How many bytes were copied and checked; a fill that stands still loses its turn.")
            @Nullable
            Long progressBytes,

            @Size(max = 4096) @JsonPropertyDescription("The cache directory with the replica.") @Nullable
            String cacheDirectory,

            @Size(max = 4096)
            @JsonPropertyDescription("Why the node failed, and retries; or what it waits for.")
            @Nullable
            String message,

            @Size(max = 63) @JsonPropertyDescription("The id of the node's request for the dataset's key.") @Nullable
            String request,

            @Size(max = 256)
            @JsonPropertyDescription("The public key for which the controller encrypts the Ceph key.")
            @Nullable
            String publicKey) {}

    /// As `dev.siphon.csi.dataset.DatasetReplica.State`.
    public enum State {
        @JsonProperty("Absent")
        ABSENT,
        @JsonProperty("Waiting")
        WAITING,
        @JsonProperty("Queued")
        QUEUED,
        @JsonProperty("Filling")
        FILLING,
        @JsonProperty("Local")
        LOCAL,
        @JsonProperty("Failed")
        FAILED
    }

    @Override
    @Required
    @JsonPropertyDescription("The order. The controller writes it.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("The progress. The node writes it.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
