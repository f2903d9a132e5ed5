package dev.siphon.node.fetch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;

/// How requests to a bucket are signed.
public sealed interface BucketKey {
    /// Requests without a signature, for a public bucket.
    record Anonymous() implements BucketKey {
        @Override
        public Map<String, String> sign(WebAddress address, String region, Map<String, String> headers) {
            return headers;
        }
    }

    /// Requests signed by a key (Signature Version 4). Its text never shows the secret.
    ///
    /// @param session the token of a key that expires; empty for others
    record Signed(String access, String secret, String session) implements BucketKey {
        @Override
        public Map<String, String> sign(WebAddress address, String region, Map<String, String> headers) {
            SdkHttpRequest.Builder request =
                    SdkHttpRequest.builder().method(SdkHttpMethod.GET).uri(address.uri());
            headers.forEach(request::putHeader);
            AwsCredentialsIdentity identity = session.isEmpty()
                    ? AwsCredentialsIdentity.create(access, secret)
                    : AwsSessionCredentialsIdentity.create(access, secret, session);
            SdkHttpRequest signed = AwsV4HttpSigner.create()
                    .sign(to -> to.identity(identity)
                            .request(request.build())
                            .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                            .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                            .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                            .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false))
                    .request();
            Map<String, String> all = new HashMap<>();
            signed.forEachHeader((name, values) -> all.put(name, String.join(",", values)));
            // the client sends its own
            all.keySet().removeIf(List.of("host", "content-length")::contains);
            all.remove("Host");
            return all;
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    /// Returns the headers of a GET, with its signature.
    Map<String, String> sign(WebAddress address, String region, Map<String, String> headers);
}
