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
@JsonClassDescription("A node's request for a dataset that a pod names or claims. It is deleted with the pod.")
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
            @Required @Size(max = 256) @JsonPropertyDescription("The dataset, as OWNER/NAME.") @Nullable
            String dataset,

            @Required @Size(max = 253) @JsonPropertyDescription("The node that asks.") @Nullable
            String node,

            @Required @Size(max = 253) @JsonPropertyDescription("The pod, in this namespace.") @Nullable
            String pod,

            @JsonProperty("podUID") @Required @Size(max = 63) @JsonPropertyDescription("The pod's uid.") @Nullable
            String podUid,

            @Required
            @Size(max = 256)
            @JsonPropertyDescription("The public key for which the controller encrypts the Ceph key.")
            @Nullable
            String publicKey,

            @Required
            @Size(max = 63)
            @JsonPropertyDescription("An id of this request. The status repeats it.")
            @Nullable
            String request) {}

    /// The reply; absent fields are null.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription("The id of the request that this answers.") @Nullable
            String request,

            @JsonPropertyDescription("The id of the volume that shows the dataset.") @Nullable
            String volume,

            @JsonPropertyDescription("The attributes of that volume, as in a PersistentVolume.") @Nullable
            Map<String, String> context,

            @JsonProperty("userID")
            @JsonPropertyDescription("The Ceph identity that reads the dataset, without \"client.\".")
            @Nullable
            String userId,

            @JsonPropertyDescription("The identity's key, encrypted for publicKey.") @Nullable
            String sealedKey,

            @JsonPropertyDescription("If the request is refused, the gRPC code of the error.") @Nullable
            String code,

            @JsonPropertyDescription("If the request is refused, the error.") @Nullable
            String message) {}

    @Override
    @Required
    @JsonPropertyDescription("The request. The node writes it.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("The reply. The controller writes it.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
