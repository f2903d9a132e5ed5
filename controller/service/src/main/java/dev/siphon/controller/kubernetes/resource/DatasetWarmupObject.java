package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A dataset that an administrator wants on disks ahead of time (`spec`), and how many nodes have it (`status`).
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("DatasetWarmup")
@JsonClassDescription("A dataset that nodes keep on their disks before any pod needs it.")
@AdditionalPrinterColumn(name = "Dataset", jsonPath = ".spec.dataset")
@AdditionalPrinterColumn(name = "Nodes", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.nodes")
@AdditionalPrinterColumn(name = "Local", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.local")
@AdditionalPrinterColumn(name = "Until", jsonPath = ".spec.until")
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.message")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetWarmupObject extends CustomResource<DatasetWarmupObject.Spec, DatasetWarmupObject.Status> {
    /// What the administrator wants.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            @Required
            @Size(min = 1, max = 253)
            @JsonPropertyDescription("The name of a Dataset: OWNER.NAME or OWNER/NAME.")
            @Nullable
            String dataset,

            @JsonPropertyDescription("Labels of the nodes. Default: all nodes.") @Nullable
            Map<String, String> nodeSelector,

            @JsonPropertyDescription("Until when nodes keep it. Default: until this object is deleted.") @Nullable
            String until) {}

    /// The progress.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription(
                    "How many nodes are to keep it; 0 if its time is over, or there is no such dataset.")
            @Nullable
            Integer nodes,

            @JsonPropertyDescription("How many of them have the whole dataset on a disk.") @Nullable
            Integer local,

            @JsonPropertyDescription("What is missing or over.") @Nullable
            String message) {}

    @Override
    @Required
    @JsonPropertyDescription("Which dataset, where and how long. An administrator writes it.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("The progress. The controller writes it.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
