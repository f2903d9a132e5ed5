package dev.siphon.controller.kubernetes.resource;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.Annotations;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A dataset that the people of a namespace want to be fetched (`spec`), and how far that is (`status`).
@Group(Siphon.GROUP)
@Version(Siphon.VERSION)
@Kind("DatasetImport")
@Annotations("helm.sh/resource-policy=keep") // without its object, an import's dataset is deleted
@JsonClassDescription(
        "Data that is fetched from a server or a directory, and becomes the dataset ACCOUNT/NAME. Deleting it deletes the dataset.")
@AdditionalPrinterColumn(name = "Phase", jsonPath = ".status.phase")
@AdditionalPrinterColumn(name = "Dataset", jsonPath = ".status.dataset")
@AdditionalPrinterColumn(name = "Bytes", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.bytes")
@AdditionalPrinterColumn(
        name = "Total",
        type = AdditionalPrinterColumn.Type.INTEGER,
        jsonPath = ".status.totalBytes",
        priority = 1)
@AdditionalPrinterColumn(name = "Left", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.secondsLeft")
@AdditionalPrinterColumn(name = "Pods", type = AdditionalPrinterColumn.Type.INTEGER, jsonPath = ".status.pods")
@AdditionalPrinterColumn(
        name = "Age",
        type = AdditionalPrinterColumn.Type.DATE,
        jsonPath = ".metadata.creationTimestamp")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.reason", priority = 1)
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.message", priority = 1)
@SuppressWarnings("serial") // never serialized by Java's own mechanism
public final class DatasetImportObject extends CustomResource<DatasetImportObject.Spec, DatasetImportObject.Status>
        implements Namespaced {
    private static final String SECRET =
            "A Secret of this namespace. Its keys: token, or username and password; for s3 access-key and secret-key, and session-token if there is one.";

    /// What the owner wants.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @ValidationRule(
            message = "source and size cannot change: delete the DatasetImport, and apply another one",
            value = "self.source == oldSelf.source && self.size == oldSelf.size")
    public record Spec(
            @Required
            @JsonPropertyDescription("Where the data comes from: exactly one of https, s3 and claim. It cannot change.")
            @Nullable
            Source source,

            @Required
            @Pattern("^[1-9][0-9]{0,12}(Ki|Mi|Gi|Ti|k|M|G|T)?$")
            @JsonPropertyDescription(
                    "The size of the volume that is filled, as 200Gi. It has to hold the files, and for https also what is downloaded. It cannot change.")
            @Nullable
            String size,

            @JsonPropertyDescription("Who reads the dataset besides its account.") @Nullable
            Readers readers,

            @JsonPropertyDescription(
                    "Whether the PersistentVolumeClaim NAME-import stays once the dataset is ready. Default: false.")
            @Nullable
            Boolean keepVolume) {}

    /// Where the data comes from.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @ValidationRule(
            message = "source needs exactly one of https, s3 and claim",
            value = "[has(self.https), has(self.s3), has(self.claim)].filter(x, x).size() == 1")
    public record Source(
            @JsonPropertyDescription("A file of a server: a tar, a zip, or any other single file.") @Nullable
            Https https,

            @JsonPropertyDescription("The objects of a bucket.") @Nullable
            S3 s3,

            @JsonPropertyDescription("A directory of a PersistentVolumeClaim of this namespace.") @Nullable
            Claim claim) {}

    /// A file of a server.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @ValidationRule(
            message = "https needs sha256, or checksum: none if nobody knows it",
            value = "has(self.sha256) != has(self.checksum)")
    public record Https(
            @Required
            @Pattern("^https?://[^/?#@\\s]+([/?#]\\S*)?$")
            @Size(max = 2048)
            @JsonPropertyDescription(
                    "The address, without a user name and password. http:// only for addresses that an administrator allows (imports.allowPrivate).")
            @Nullable
            String url,

            @Pattern("^[0-9a-f]{64}$")
            @JsonPropertyDescription("The SHA-256 of the file, in hexadecimal digits.")
            @Nullable
            String sha256,

            @JsonPropertyDescription("none: the file is not compared with anything.") @Nullable
            Checksum checksum,

            @Pattern(NAME) @Size(max = 253) @JsonPropertyDescription(SECRET) @Nullable
            String credentials) {}

    /// What a file is compared with, if not with its SHA-256.
    public enum Checksum {
        @JsonProperty("none")
        NONE
    }

    /// The objects of a bucket.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record S3(
            @Required
            @Pattern("^https?://[^/?#@\\s]+/?$")
            @Size(max = 512)
            @JsonPropertyDescription("The server, as https://s3.example.org.")
            @Nullable
            String endpoint,

            @Required @Pattern("^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$") @JsonPropertyDescription("The bucket.") @Nullable
            String bucket,

            @Size(max = 1024)
            @JsonPropertyDescription("A directory in the bucket, or one object. Default: all objects.")
            @Nullable
            String prefix,

            @Pattern("^[a-z0-9-]{1,64}$") @JsonPropertyDescription("The region. Default: us-east-1.") @Nullable
            String region,

            @Pattern(NAME) @Size(max = 253) @JsonPropertyDescription(SECRET) @Nullable
            String credentials) {}

    /// A folder of a claim.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @ValidationRule(
            message = "claim.path is a directory below the volume's root, without `..`",
            value = "!has(self.path) || !self.path.startsWith('/') && !self.path.split('/').exists(part, part == '..')")
    public record Claim(
            @Required
            @Pattern(NAME)
            @Size(max = 253)
            @JsonPropertyDescription("The name of the PersistentVolumeClaim. It is mounted for reading.")
            @Nullable
            String name,

            @Size(max = 1024) @JsonPropertyDescription("The directory in it. Default: all of it.") @Nullable
            String path) {}

    /// Who reads the dataset besides its account.
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Readers(
            @Size(max = 20)
            @JsonPropertyDescription(
                    "Groups that the account is in, without `group:`. For others ask an administrator.")
            @Nullable
            List<@Size(min = 1, max = 100) String> groups) {}

    private static final String NAME = "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$";

    /// How far it is; absent fields are null.
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @JsonPropertyDescription("One of Reserving, Fetching, Sealing, Ready, Failed.") @Nullable
            String phase,

            @JsonPropertyDescription("Why, as one word for programs.") @Nullable
            String reason,

            @JsonPropertyDescription("Why, and what to do.") @Nullable
            String message,

            @JsonPropertyDescription("The dataset's name, ACCOUNT/NAME.") @Nullable
            String dataset,

            @JsonPropertyDescription("How much is fetched.") @Nullable
            Long bytes,

            @JsonPropertyDescription("How much there is to fetch; -1 if unknown.") @Nullable
            Long totalBytes,

            @JsonPropertyDescription("How fast it is fetched.") @Nullable
            Long bytesPerSecond,

            @JsonPropertyDescription("How many seconds the fetch still takes; -1 if unknown.") @Nullable
            Long secondsLeft,

            @Size(max = 21)
            @JsonPropertyDescription(
                    "The readers that the import gave the dataset. Administrators may have added others.")
            @Nullable
            List<@Size(max = 200) String> readers,

            @JsonPropertyDescription("How many pods use the dataset.") @Nullable
            Long pods,

            @Size(max = 10) @JsonPropertyDescription("The namespaces of some of these pods.") @Nullable
            List<@Size(max = 63) String> usedBy,

            @JsonPropertyDescription("The generation of the spec for which nothing is left to do.") @Nullable
            Long settledGeneration) {}

    @Override
    @Required
    @JsonPropertyDescription("What is fetched, and who reads it. People of the namespace write it.")
    public @Nullable Spec getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonPropertyDescription("How far it is. The controller writes it.")
    public @Nullable Status getStatus() {
        return super.getStatus();
    }
}
