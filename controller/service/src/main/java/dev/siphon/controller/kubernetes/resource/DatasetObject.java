package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.Annotations;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A sealed dataset: administrators write its `spec`, the controller its `status`.
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("Dataset")
// deleting the custom resource definition would delete every dataset, so uninstalling keeps it
@Annotations("helm.sh/resource-policy=keep")
@JsonClassDescription(
        "A sealed dataset. PVCs name it with annotation siphon.dev/dataset, pods with volumeAttributes.dataset; OWNER/NAME there is OWNER.NAME here.")
@AdditionalPrinterColumn(name = "Ready", type = AdditionalPrinterColumn.Type.BOOLEAN, jsonPath = ".status.ready")
@AdditionalPrinterColumn(name = "Path", jsonPath = ".spec.path")
@AdditionalPrinterColumn(name = "Bytes", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".spec.bytes")
@AdditionalPrinterColumn(name = "Readers", jsonPath = ".spec.readers")
@AdditionalPrinterColumn(name = "Pods", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.pods")
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.message", priority = 1)
@AdditionalPrinterColumn(name = "Read back", jsonPath = ".status.readBack", priority = 1)
@AdditionalPrinterColumn(
        name = "Age",
        type = AdditionalPrinterColumn.Type.DATE,
        jsonPath = ".metadata.creationTimestamp")
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetObject extends CustomResource<DatasetObject.Spec, DatasetObject.Status> {
    /// What an administrator declares.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @ValidationRule(
            message = "a sealed dataset cannot become another one; declare that under a name of its own",
            value =
                    "self.fsName == oldSelf.fsName && self.path == oldSelf.path && self.digest == oldSelf.digest && has(self.cluster) == has(oldSelf.cluster) && (!has(self.cluster) || self.cluster == oldSelf.cluster)")
    public record Spec(
            @Pattern("^[a-z0-9][a-z0-9-]{0,19}$")
            @JsonPropertyDescription("The id in clusters.json of the cluster that holds it; left out, the default one.")
            @Nullable
            String cluster,

            @Required
            @Pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,23}$")
            @JsonPropertyDescription("The file system that holds it.")
            @Nullable
            String fsName,

            @Required
            @Pattern("^/")
            @Size(max = 100)
            @JsonPropertyDescription(
                    "The directory with the files image and image.manifest, from the root of the file system.")
            @Nullable
            String path,

            @Required
            @Pattern("^[0-9a-f]{64}$")
            @JsonPropertyDescription("As `siphon dataset pack` printed it.")
            @Nullable
            String digest,

            @Min(0) @JsonPropertyDescription("How long the image is, for the size of volumes that show it.")
            long bytes,

            @Required
            @Size(max = 1000)
            @JsonPropertyDescription("Accounts, groups as group:NAME, or \"*\" for everybody.")
            @Nullable
            List<@Size(min = 1, max = 200) String> readers) {
        private static final Spec NONE = new Spec(null, null, null, null, 0, null);
    }

    /// What the controller found; absent fields are null.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription("Whether volumes can show it.") @Nullable
            Boolean ready,

            @JsonPropertyDescription("Why not.") @Nullable String message,

            @Size(max = 1100)
            @JsonPropertyDescription(
                    "Of a sealed snapshot, whether another process than the packer has read its whole image: waits, reads, done, failed, or refused, and why. A failed image is used anyway; a refused one is not what its manifest says.")
            @Nullable
            String readBack,

            @Size(max = 1000)
            @JsonPropertyDescription(
                    "Whom the name of each reader meant when it was first seen, as the account's group. Removing a name here confirms whoever has it now.")
            @Nullable
            Map<String, @Nullable @Size(max = 21) String> readers,

            @Size(max = 1000)
            @JsonPropertyDescription("The readers whose names mean somebody else now; they read nothing.")
            @Nullable
            List<@Size(max = 200) String> changedReaders,

            @Size(max = 8) @Nullable List<Condition> conditions,

            @JsonPropertyDescription(
                    "How many pods use it, on all nodes: those that are on a node, have not ended, and have a volume of it. Some 15 s old, more in a cluster with very many pods.")
            @Nullable
            Long pods,

            @Size(max = 50) @JsonPropertyDescription("Where these pods are; the 50 nodes with most of them.") @Nullable
            List<OnNode> nodes,

            @JsonPropertyDescription("On how many other nodes there are such pods.") @Nullable
            Long moreNodes) {
        private static final Status NONE = new Status(null, null, null, null, null, null, null, null, null);

        /// Returns a status with only whether volumes can show the dataset.
        public static Status of(boolean ready, String message) {
            return new Status(ready, message, null, null, null, null, null, null, null);
        }

        /// Returns a status with only the result of reading the image back.
        public static Status of(String readBack) {
            return new Status(null, null, readBack, null, null, null, null, null, null);
        }

        /// Returns a status with only the accounts behind its readers' names.
        ///
        /// @param readers null for a name that is no longer known
        public static Status of(
                @Nullable Map<String, @Nullable String> readers,
                @Nullable List<String> changed,
                @Nullable List<Condition> conditions) {
            return new Status(null, null, null, readers, changed, conditions, null, null, null);
        }

        /// Returns a status with only the pods that use the dataset.
        public static Status of(long pods, List<OnNode> nodes, long moreNodes) {
            return new Status(null, null, null, null, null, null, pods, nodes, moreNodes);
        }
    }

    /// A condition as in Kubernetes' API conventions.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Condition(
            @Required @Size(max = 316) String type,
            @Required ConditionStatus status,
            @Size(max = 1024) @Nullable String reason,
            @Size(max = 32768) @Nullable String message,
            @Nullable String lastTransitionTime) {}

    /// The status of a [Condition].
    public enum ConditionStatus {
        @JsonProperty("True")
        TRUE,
        @JsonProperty("False")
        FALSE,
        @JsonProperty("Unknown")
        UNKNOWN
    }

    /// Pods on one node.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record OnNode(
            @Required @Size(max = 253) String name,

            @Required @JsonPropertyDescription("How many there.")
            long pods,

            @Size(max = 5) @JsonPropertyDescription("Of these pods; the first 5.") @Nullable
            List<@Size(max = 63) String> namespaces,

            @JsonPropertyDescription("How many others there are.") @Nullable
            Long moreNamespaces) {}

    @Override
    @Required
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("The controller's.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }

    /// Returns the spec; an empty one if it is absent.
    public Spec spec() {
        return Optional.ofNullable(getSpec()).orElse(Spec.NONE);
    }

    /// Returns the status; an empty one if it is absent.
    public Status status() {
        return Optional.ofNullable(getStatus()).orElse(Status.NONE);
    }
}
