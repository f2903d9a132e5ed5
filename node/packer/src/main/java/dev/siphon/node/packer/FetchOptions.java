package dev.siphon.node.packer;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fetch.AddressRange;
import dev.siphon.node.fetch.AddressRules;
import dev.siphon.node.fetch.Authorization;
import dev.siphon.node.fetch.BucketKey;
import dev.siphon.node.fetch.BucketLocation;
import dev.siphon.node.fetch.Download;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.fetch.TrustedAuthorities;
import dev.siphon.node.fetch.WebAddress;
import dev.siphon.node.unpack.FetchRequest;
import dev.siphon.node.unpack.FetchSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/// The flags of a fetch.
final class FetchOptions {
    @Option(
            names = "--into",
            paramLabel = "DIR",
            required = true,
            description = "Where to fetch to: the tree is DIR/data. Until it is complete, DIR/.siphon-fetch has the"
                    + " download and what is unpacked of it.")
    private Path into = Path.of("");

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "The https:// address of a tar (plain or compressed by bzip2, gzip, xz or zstd), a zip, or a"
                    + " single file.")
    private Optional<String> url = Optional.empty();

    @Option(
            names = "--sha256",
            paramLabel = "HEX",
            description = "The SHA-256 digest of the file at --url. Without it, whatever the server sends is taken.")
    private Optional<String> sha256 = Optional.empty();

    @Option(
            names = "--s3-endpoint",
            paramLabel = "URL",
            description = "The https:// address of a server that speaks S3.")
    private Optional<String> endpoint = Optional.empty();

    @Option(names = "--s3-bucket", paramLabel = "NAME", description = "The bucket of the objects.")
    private Optional<String> bucket = Optional.empty();

    @Option(
            names = "--s3-prefix",
            paramLabel = "FOLDER",
            description = "What the keys begin with, up to a slash; the rest of a key is the file's path (default: the"
                    + " whole bucket).")
    private String prefix = "";

    @Option(
            names = "--s3-region",
            paramLabel = "NAME",
            defaultValue = "us-east-1",
            description = "The region of the bucket (default: us-east-1).")
    private String region = "";

    @Option(names = "--from", paramLabel = "DIR", description = "A directory to copy. No part may be a symbolic link.")
    private Optional<Path> from = Optional.empty();

    @Option(
            names = "--credentials",
            paramLabel = "DIR",
            description = "A Secret as files: token, or username and password, for --url; access-key, secret-key and,"
                    + " if the key has one, session-token, for --s3-endpoint.")
    private Optional<Path> credentials = Optional.empty();

    @Option(
            names = "--max-bytes",
            paramLabel = "N",
            description =
                    "The limit for the size of the download, and for that of all files, in bytes (default: none).")
    private long maxBytes = Long.MAX_VALUE;

    @Option(
            names = "--max-files",
            paramLabel = "N",
            defaultValue = "5000000",
            description = "The limit for files, directories and links (default: 5000000).")
    private long maxFiles;

    @Option(
            names = "--min-bytes-per-second",
            paramLabel = "N",
            defaultValue = "1024",
            description = "How fast a server has to be, on the average of a minute (default: 1024).")
    private long minBytesPerSecond;

    @Option(
            names = "--allow-private",
            paramLabel = "CIDR",
            split = ",",
            description = "Private addresses to fetch from, also by http:// (default: none).")
    private List<String> allowPrivate = List.of();

    @Option(
            names = "--ca-bundle",
            paramLabel = "FILE",
            description = "Certificates (PEM) of authorities that servers may have besides the public ones (default:"
                    + " none).")
    private Optional<Path> caBundle = Optional.empty();

    @Option(
            names = "--termination-log",
            paramLabel = "FILE",
            defaultValue = "/dev/termination-log",
            description = "Where to write the end, as JSON, if the file exists (default: /dev/termination-log).")
    private Path terminationLog = Path.of("");

    Path into() {
        return into;
    }

    Path terminationLog() {
        return terminationLog;
    }

    /// Returns the request of the flags.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the flags are invalid
    /// @throws FetchFailure WrongKey if the credentials are; Io if the bundle of authorities is
    FetchRequest request() {
        if (maxBytes < 1 || maxFiles < 1 || minBytesPerSecond < 0) {
            throw new DriverException.InvalidRequest(
                    "--max-bytes, --max-files and --min-bytes-per-second must be positive");
        }
        return new FetchRequest(
                source(), into, maxBytes, maxFiles, FetchLimits.USUAL.withMinBytesPerSecond(minBytesPerSecond));
    }

    /// The administrator's bundle: no account can correct it, but another try may find it corrected.
    private static TrustedAuthorities authorities(Path bundle) {
        try {
            return TrustedAuthorities.parse(Files.readAllBytes(bundle));
        } catch (IOException | DriverException.InvalidRequest e) {
            throw new FetchFailure(
                    FetchFailure.Reason.IO,
                    "--ca-bundle=" + QuotedText.of(bundle.toString()) + " cannot be used: " + e.getMessage()
                            + "; an administrator has to correct it (imports.caBundle)");
        }
    }

    private FetchSource source() {
        if (Stream.of(url.isPresent(), endpoint.isPresent(), from.isPresent())
                        .filter(each -> each)
                        .count()
                != 1) {
            throw new DriverException.InvalidRequest("give one of --url, --s3-endpoint and --from");
        }
        AddressRules rules = new AddressRules(
                false,
                allowPrivate.stream().map(AddressRange::parse).toList(),
                caBundle.map(FetchOptions::authorities).orElse(TrustedAuthorities.PUBLIC));
        if (url.isPresent()) {
            return new FetchSource.Web(new Download.Source(
                    WebAddress.parse(url.get()),
                    sha256.map(hex -> new Digest(hex.toLowerCase(Locale.ROOT))).stream()
                            .toList(),
                    credentials
                            .map(directory -> new FetchCredentials(directory).authorization())
                            .orElse(Authorization.NONE),
                    rules));
        }
        if (endpoint.isPresent()) {
            return new FetchSource.Objects(new BucketLocation(
                    WebAddress.parse(endpoint.get()),
                    bucket.orElseThrow(() -> new DriverException.InvalidRequest("--s3-endpoint needs --s3-bucket")),
                    prefix,
                    region,
                    credentials
                            .map(directory -> new FetchCredentials(directory).bucketKey())
                            .orElse(new BucketKey.Anonymous()),
                    rules));
        }
        return new FetchSource.Folder(from.orElseThrow());
    }
}
