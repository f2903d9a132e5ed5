package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a namespace may use. The controller writes the whole object, since its `status` is no subresource.
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("NamespaceAccess")
@Plural("namespaceaccesses")
@JsonClassDescription(
        "What the pods of this namespace may use; in the driver's own, everybody-N, datasets that all may read.")
@AdditionalPrinterColumn(name = "Accounts", jsonPath = ".status.accountNames")
@AdditionalPrinterColumn(
        name = "Datasets",
        type = AdditionalPrinterColumn.Type.INTEGER,
        jsonPath = ".status.datasetCount")
@AdditionalPrinterColumn(name = "Ready", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.readyCount")
@AdditionalPrinterColumn(name = "Replicas", jsonPath = ".status.datasetReplicas")
@AdditionalPrinterColumn(name = "Names", jsonPath = ".status.datasetSizes", priority = 1)
@AdditionalPrinterColumn(
        name = "Age",
        type = AdditionalPrinterColumn.Type.DATE,
        jsonPath = ".metadata.creationTimestamp")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class NamespaceAccessObject extends CustomResource<Void, NamespaceAccessObject.Status>
        implements Namespaced {
    /// What the namespace may use.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Status(
            @JsonPropertyDescription("Tells one content from another.") @Nullable
            String digest,

            @JsonPropertyDescription("The first five accounts.") @Nullable
            String accountNames,

            @JsonPropertyDescription("The first five datasets, with how long they are, and whether they are not ready.")
            @Nullable
            String datasetSizes,

            @JsonPropertyDescription(
                    "Of the first five datasets that pods here use or wait for, on how many nodes' disks they are.")
            @Nullable
            String datasetReplicas,

            @JsonPropertyDescription("How many of the datasets volumes can show.") @Nullable
            Integer readyCount,

            @JsonPropertyDescription("How many datasets, without those that everybody may read.") @Nullable
            Integer datasetCount,

            @Size(max = 1000) @JsonPropertyDescription("Whose volumes pods here may use; the first 1000.") @Nullable
            List<AccountEntry> accounts,

            @JsonPropertyDescription("How many others there are.") @Nullable
            Integer moreAccounts,

            @Size(max = 1000) @JsonPropertyDescription("Which datasets pods here may read; the first 1000.") @Nullable
            List<DatasetEntry> datasets,

            @JsonPropertyDescription("How many others there are.") @Nullable
            Integer moreDatasets) {}

    /// An account whose volumes the namespace may use.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record AccountEntry(
            @Required String name,

            @Required @JsonPropertyDescription("Where they are, as CLUSTER:FILESYSTEM:GROUP.")
            String volumes) {}

    /// A dataset that the namespace may read.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DatasetEntry(
            @Required String name,

            @JsonPropertyDescription("How long the image is; 0 if nobody has said that.")
            long bytes,

            @Required @JsonPropertyDescription("Whether volumes can show it; the Dataset says why not.")
            boolean ready,

            @JsonPropertyDescription("On disks of how many nodes it is; only while pods here use it or wait for it.")
            @Nullable
            ReplicasEntry replicas) {}

    /// How many nodes have a replica of a dataset, by state.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record ReplicasEntry(
            @JsonPropertyDescription("Nodes that have all of it.")
            int local,

            @JsonPropertyDescription("Nodes that are getting it.")
            int filling,

            @JsonPropertyDescription("Nodes that could not get it.")
            int failed,

            @JsonPropertyDescription("How much of it these have that are getting it, in steps of 10.")
            int percent) {}
}
