package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
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
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A node's request for a dataset of a pod (`spec`, written by the node), and the controller's reply (`status`).
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("DatasetAccess")
@Plural("datasetaccesses")
@JsonClassDescription("A dataset that a pod names in an inline volume.")
@AdditionalPrinterColumn(name = "Dataset", jsonPath = ".spec.dataset")
@AdditionalPrinterColumn(name = "Pod", jsonPath = ".spec.pod")
@AdditionalPrinterColumn(name = "Node", jsonPath = ".spec.node")
@AdditionalPrinterColumn(name = "Refused", jsonPath = ".status.code")
@AdditionalPrinterColumn(
        name = "Age",
        type = AdditionalPrinterColumn.Type.DATE,
        jsonPath = ".metadata.creationTimestamp")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetAccessObject extends CustomResource<DatasetAccessObject.Spec, DatasetAccessObject.Status>
        implements Namespaced {
    /// The request.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            @Required @Size(max = 256) @Nullable String dataset,
            @Required @Size(max = 253) @Nullable String node,
            @Required @Size(max = 253) @Nullable String pod,

            @JsonProperty("podUID") @Required @Size(max = 63) @Nullable
            String podUid,

            @Required @Size(max = 256) @Nullable String publicKey,
            @Required @Size(max = 63) @Nullable String request) {}

    /// The reply; absent fields are null.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @Nullable String request,
            @Nullable String volume,
            @Nullable Map<String, String> context,
            @JsonProperty("userID") @Nullable String userId,
            @Nullable String sealedKey,
            @Nullable String code,
            @Nullable String message) {}

    @Override
    @Required
    @JsonPropertyDescription("The node's question.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("The controller's answer.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
