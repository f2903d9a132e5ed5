package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A folder of objects in a bucket, of a server that speaks S3.
///
/// @param endpoint the server, without a path of its own or with one that all requests begin with
/// @param prefix the folder; empty for the whole bucket
/// @param region for the signature
/// @param key how requests are signed
public record BucketLocation(
        WebAddress endpoint, String bucket, String prefix, String region, BucketKey key, AddressRules rules) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{1,254}");
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for a name that no bucket can have
    public BucketLocation {
        if (!NAME.matcher(bucket).matches()) {
            throw new DriverException.InvalidRequest(
                    "a bucket's name has letters, digits, dots and hyphens: this one has something else");
        }
        while (prefix.endsWith("/")) {
            prefix = prefix.substring(0, prefix.length() - 1);
        }
    }

    /// Returns the address of an object, by path (`https://server/bucket/key`), which servers of all kinds answer.
    WebAddress object(String objectKey) {
        return at("/" + encoded(objectKey, "/"));
    }

    /// Returns the address of a list.
    ///
    /// @param query names and values, not encoded
    WebAddress list(Map<String, String> query) {
        return at("?"
                + query.entrySet().stream()
                        .sorted(Comparator.comparing(Map.Entry::getKey))
                        .map(each -> encoded(each.getKey(), "") + "=" + encoded(each.getValue(), ""))
                        .collect(Collectors.joining("&")));
    }

    private WebAddress at(String rest) {
        String base = endpoint.uri().getScheme() + "://" + endpoint.uri().getRawAuthority()
                + endpoint.uri().getRawPath();
        return WebAddress.parse(base + (base.endsWith("/") ? "" : "/") + bucket + rest);
    }

    /// Encodes what RFC 3986 does not leave as it is, as signatures demand.
    private static String encoded(String text, String also) {
        StringBuilder out = new StringBuilder();
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            char octet = (char) Byte.toUnsignedInt(each);
            if (UNRESERVED.indexOf(octet) >= 0 || also.indexOf(octet) >= 0) {
                out.append(octet);
            } else {
                out.append(String.format("%%%02X", (int) octet));
            }
        }
        return out.toString();
    }

    /// Returns the bucket and the folder for people.
    public String shown() {
        return endpoint.shown() + ", bucket "
                + String.join("/", prefix.isEmpty() ? List.of(bucket) : List.of(bucket, prefix));
    }
}
