package dev.siphon.node.unpack;

import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/// S3Proxy, a server that speaks S3 and checks signatures. A bucket is a directory, an object a file in it.
final class S3Server {
    private S3Server() {}

    /// @param objects has the buckets
    static S3Proxy.Builder of(Path objects, String accessKey, String secretKey) {
        return S3Proxy.builder()
                .blobStore(new FilesystemNio2BlobStore(objects.toString()))
                .awsAuthentication(AuthenticationType.AWS_V4, accessKey, secretKey);
    }

    /// Serves by TLS as a process of its own, for the tests on a cluster (`DatasetImportIT`).
    ///
    /// @param args the address, the directory of the buckets, access key, secret key, and the server's key store
    ///     with its password
    public static void main(String[] args) throws Exception {
        S3Proxy server = of(Path.of(args[1]), args[2], args[3])
                .secureEndpoint(URI.create(args[0]))
                .keyStore(args[4], args[5])
                .build();
        server.start();
        System.out.println("serves " + args[0]);
        new CountDownLatch(1).await();
    }
}
