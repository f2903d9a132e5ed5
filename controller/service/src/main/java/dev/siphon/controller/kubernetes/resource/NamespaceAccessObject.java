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
        "What the pods of this namespace may use. The objects everybody-N in the driver's own namespace list the datasets that everybody may read.")
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
            @JsonPropertyDescription("A digest of this status. It changes with the content.") @Nullable
            String digest,

            @JsonPropertyDescription("The first five accounts.") @Nullable
            String accountNames,

            @JsonPropertyDescription("The first five datasets with their sizes, and which of them are not ready.")
            @Nullable
            String datasetSizes,

            @JsonPropertyDescription(
                    "For the first five datasets that pods here use or wait for: how many nodes have a replica.")
            @Nullable
            String datasetReplicas,

            @JsonPropertyDescription("How many of the datasets are ready.") @Nullable
            Integer readyCount,

            @JsonPropertyDescription("How many datasets there are, without those that everybody may read.") @Nullable
            Integer datasetCount,

            @Size(max = 1000)
            @JsonPropertyDescription("The accounts whose volumes pods here may use. At most 1000.")
            @Nullable
            List<AccountEntry> accounts,

            @JsonPropertyDescription("How many further accounts there are.") @Nullable
            Integer moreAccounts,

            @Size(max = 1000) @JsonPropertyDescription("The datasets that pods here may read. At most 1000.") @Nullable
            List<DatasetEntry> datasets,

            @JsonPropertyDescription("How many further datasets there are.") @Nullable
            Integer moreDatasets) {}

    /// An account whose volumes the namespace may use.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record AccountEntry(
            @Required @JsonPropertyDescription("The name of the account.")
            String name,

            @Required @JsonPropertyDescription("Where its volumes are, as CLUSTER:FILESYSTEM:GROUP.")
            String volumes) {}

    /// A dataset that the namespace may read.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DatasetEntry(
            @Required @JsonPropertyDescription("The name of the dataset.")
            String name,

            @JsonPropertyDescription("The size of the image in bytes; 0 if it is unknown.")
            long bytes,

            @Required @JsonPropertyDescription("Whether volumes can show it. If not, the Dataset says why.")
            boolean ready,

            @JsonPropertyDescription(
                    "How many nodes have a replica. Only while pods here use the dataset or wait for it.")
            @Nullable
            ReplicasEntry replicas) {}

    /// How many nodes have a replica of a dataset, by state.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record ReplicasEntry(
            @JsonPropertyDescription("How many nodes have the whole dataset.")
            int local,

            @JsonPropertyDescription("How many nodes are to have a replica, and neither have it whole nor failed.")
            int filling,

            @JsonPropertyDescription("How many nodes failed to fill a replica.")
            int failed,

            @JsonPropertyDescription(
                    "How much these nodes have on average, in percent, in steps of 10; 100 if there are none.")
            int percent) {}

    @Override
    @JsonPropertyDescription("What the namespace may use. The controller writes it.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
