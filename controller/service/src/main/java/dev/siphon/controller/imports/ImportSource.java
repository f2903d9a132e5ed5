package dev.siphon.controller.imports;

import java.util.Optional;

/// Where the data of a DatasetImport comes from.
public sealed interface ImportSource {
    /// A file of a server.
    ///
    /// @param sha256 the digest of the file in hexadecimal digits; empty if the owner has said that there is none
    /// @param credentials a Secret of the namespace; empty for none
    record Https(String url, Optional<String> sha256, Optional<String> credentials) implements ImportSource {}

    /// The objects of a bucket with a prefix.
    ///
    /// @param region empty for the server's default
    /// @param credentials a Secret of the namespace; empty for none
    record S3(String endpoint, String bucket, String prefix, Optional<String> region, Optional<String> credentials)
            implements ImportSource {}

    /// A folder of a PersistentVolumeClaim of the namespace.
    ///
    /// @param path below the volume's root; "" for all of it
    record Claim(String claim, String path) implements ImportSource {}

    /// Nothing usable: the cluster's custom resource allows more than this version understands.
    record Unusable(String why) implements ImportSource {}

    /// Returns the Secret with the credentials, if one is named.
    default Optional<String> secret() {
        return switch (this) {
            case Https https -> https.credentials();
            case S3 s3 -> s3.credentials();
            case Claim _, Unusable _ -> Optional.empty();
        };
    }
}
