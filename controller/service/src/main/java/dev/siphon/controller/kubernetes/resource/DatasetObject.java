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
        "A sealed dataset and its readers. A PVC names it with the annotation siphon.dev/dataset, a pod with volumeAttributes.dataset, as OWNER/NAME. Its Dataset is called OWNER.NAME.")
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
            @JsonPropertyDescription("The id of its Ceph cluster in clusters.json. Default: the default cluster.")
            @Nullable
            String cluster,

            @Required
            @Pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,23}$")
            @JsonPropertyDescription("Its file system.")
            @Nullable
            String fsName,

            @Required
            @Pattern("^/")
            @Size(max = 100)
            @JsonPropertyDescription(
                    "The directory with the files image and image.manifest, as an absolute path in the file system.")
            @Nullable
            String path,

            @Required
            @Pattern("^[0-9a-f]{64}$")
            @JsonPropertyDescription("The digest that `siphon dataset pack` printed.")
            @Nullable
            String digest,

            @Min(0)
            @JsonPropertyDescription(
                    "The size of the image in bytes. Volumes that show the dataset have at least this size.")
            long bytes,

            @Required
            @Size(max = 1000)
            @JsonPropertyDescription("Who may read it: accounts, groups as group:NAME, or \"*\" for everybody.")
            @Nullable
            List<@Size(min = 1, max = 200) String> readers) {
        private static final Spec NONE = new Spec(null, null, null, null, 0, null);
    }

    /// What the controller found; absent fields are null.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription("Whether volumes can show the dataset.") @Nullable
            Boolean ready,

            @JsonPropertyDescription("Why the dataset is not ready.") @Nullable
            String message,

            @Size(max = 1100)
            @JsonPropertyDescription(
                    "For a sealed snapshot: whether a process other than the packer has read the whole image. One of waits, reads, done, failed, refused, and why. A failed image is still used. A refused one does not match its manifest.")
            @Nullable
            String readBack,

            @Size(max = 1000)
            @JsonPropertyDescription(
                    "Each reader's name and the group of the account that had this name when it was first seen. Remove a name to confirm the account that has it now.")
            @Nullable
            Map<String, @Nullable @Size(max = 21) String> readers,

            @Size(max = 1000)
            @JsonPropertyDescription("Readers whose names belong to other accounts now. They read nothing.")
            @Nullable
            List<@Size(max = 200) String> changedReaders,

            @Size(max = 8) @JsonPropertyDescription("Conditions, as in Kubernetes' API conventions.") @Nullable
            List<Condition> conditions,

            @JsonPropertyDescription(
                    "How many pods use the dataset: pods that are on a node, have not ended, and have a volume that shows it. Updated every 15 s or so.")
            @Nullable
            Long pods,

            @Size(max = 50)
            @JsonPropertyDescription("The nodes of these pods. At most the 50 with the most pods.")
            @Nullable
            List<OnNode> nodes,

            @JsonPropertyDescription("How many further nodes have such pods.") @Nullable
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
            @Required @Size(max = 316) @JsonPropertyDescription("The name of the condition.")
            String type,

            @Required @JsonPropertyDescription("Whether the condition holds.")
            ConditionStatus status,

            @Size(max = 1024) @JsonPropertyDescription("Why, as one word for programs.") @Nullable
            String reason,

            @Size(max = 32768) @JsonPropertyDescription("Why, for people.") @Nullable
            String message,

            @JsonPropertyDescription("When the condition last changed.") @Nullable
            String lastTransitionTime) {}

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
            @Required @Size(max = 253) @JsonPropertyDescription("The name of the node.")
            String name,

            @Required @JsonPropertyDescription("How many pods there use the dataset.")
            long pods,

            @Size(max = 5) @JsonPropertyDescription("The namespaces of these pods. At most 5.") @Nullable
            List<@Size(max = 63) String> namespaces,

            @JsonPropertyDescription("How many further namespaces there are.") @Nullable
            Long moreNamespaces) {}

    @Override
    @Required
    @JsonPropertyDescription(
            "The dataset and its readers. An administrator writes it; the controller does for sealed snapshots.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("What the controller found. The controller writes it.")
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
