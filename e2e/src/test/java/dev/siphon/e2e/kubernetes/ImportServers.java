package dev.siphon.e2e.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabDaemon;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// Servers at the lab's address that imports fetch from: a web server, the same by TLS, and S3Proxy by TLS. The
/// certificates are of an authority of the lab's own.
///
/// @param folder for the authority's certificate and the buckets
/// @param ending opens when the servers end
record ImportServers(
        String address,
        Path folder,
        HttpServer web,
        HttpsServer encrypted,
        LabDaemon s3,
        int s3Port,
        CountDownLatch ending)
        implements AutoCloseable {
    static final byte[] FILE = "learn\n".repeat(1000).getBytes(StandardCharsets.UTF_8);
    static final String ACCESS_KEY = "alice";
    static final String SECRET_KEY = "s3cret/+key";
    private static final String PASSWORD = "changeit";

    static ImportServers start(Lab lab) throws IOException, GeneralSecurityException {
        Path folder = Files.createDirectories(lab.run().resolve("import-servers"));
        var _ = Files.createDirectories(folder.resolve("buckets/data"));
        makeCertificates(folder, lab.address());
        CountDownLatch ending = new CountDownLatch(1);
        HttpsServer encrypted = HttpsServer.create(new InetSocketAddress("0.0.0.0", 0), 0);
        encrypted.setHttpsConfigurator(new HttpsConfigurator(tls(folder)));
        HttpServer web = serve(HttpServer.create(new InetSocketAddress("0.0.0.0", 0), 0), ending);
        var _ = serve(encrypted, ending);
        int port = DriverFolder.freePort();
        LabDaemon s3 = startS3(folder, "https://" + lab.address() + ":" + port);
        return new ImportServers(lab.address(), folder, web, encrypted, s3, port, ending);
    }

    private static LabDaemon startS3(Path folder, String endpoint) throws IOException {
        Path packer = Project.folder().resolve("node/packer/target");
        LabDaemon daemon = LabDaemon.of(
                        "s3",
                        List.of(
                                System.getProperty("java.home") + "/bin/java",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Xmx128m",
                                "-cp",
                                packer.resolve("test-classes") + ":"
                                        + Files.readString(packer.resolve("test.classpath"))
                                                .strip(),
                                "dev.siphon.node.unpack.S3Server",
                                endpoint,
                                folder.resolve("buckets").toString(),
                                ACCESS_KEY,
                                SECRET_KEY,
                                store(folder).toString(),
                                PASSWORD))
                .start();
        var _ = Await.until(
                "S3Proxy serves", Cluster.PATIENCE, () -> daemon.log().contains("serves " + endpoint));
        return daemon;
    }

    private static Path store(Path folder) {
        return folder.resolve("keys.p12");
    }

    /// Makes the authority, and a key with a certificate of it. The store then has this key alone.
    private static void makeCertificates(Path folder, String address) throws IOException {
        Files.deleteIfExists(store(folder));
        keytool(
                folder,
                "-genkeypair",
                "-alias",
                "ca",
                "-dname",
                "CN=Siphon lab imports",
                "-ext",
                "bc:c",
                "-keyalg",
                "EC");
        keytool(
                folder,
                "-genkeypair",
                "-alias",
                "server",
                "-signer",
                "ca",
                "-dname",
                "CN=import-servers",
                "-ext",
                "san=ip:" + address,
                "-keyalg",
                "EC");
        keytool(
                folder,
                "-exportcert",
                "-rfc",
                "-alias",
                "ca",
                "-file",
                folder.resolve("ca.pem").toString());
        keytool(folder, "-delete", "-alias", "ca");
    }

    private static void keytool(Path folder, String... words) {
        var _ = Command.run(Stream.of(
                        Stream.of(System.getProperty("java.home") + "/bin/keytool"),
                        Stream.of(words),
                        Stream.of(
                                "-keystore", store(folder).toString(), "-storetype", "PKCS12", "-storepass", PASSWORD))
                .flatMap(each -> each)
                .toArray(String[]::new));
    }

    private static SSLContext tls(Path folder) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store(folder))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    /// `/file` is a file, `/away` redirects to an address of the cluster's nodes, `/slow` begins and does not end.
    private static HttpServer serve(HttpServer server, CountDownLatch ending) {
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/file", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, FILE.length);
                exchange.getResponseBody().write(FILE);
            }
        });
        server.createContext("/away", exchange -> {
            try (exchange) {
                exchange.getResponseHeaders().set("Location", "http://169.254.169.254/latest/meta-data");
                exchange.sendResponseHeaders(302, -1);
            }
        });
        server.createContext("/slow", exchange -> beginSlowly(exchange, ending));
        server.start();
        return server;
    }

    private static void beginSlowly(HttpExchange exchange, CountDownLatch ending) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(200, 1 << 30);
            exchange.getResponseBody().write(FILE);
            exchange.getResponseBody().flush();
            ending.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Returns the certificate of the authority, in PEM.
    Path authority() {
        return folder.resolve("ca.pem");
    }

    String url(String path) {
        return "http://" + address + ":" + web.getAddress().getPort() + path;
    }

    String encryptedUrl(String path) {
        return "https://" + address + ":" + encrypted.getAddress().getPort() + path;
    }

    String endpoint() {
        return "https://" + address + ":" + s3Port;
    }

    /// Puts an object into the bucket `data`.
    void put(String key, String content) throws IOException {
        Path file = folder.resolve("buckets/data").resolve(key);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    @Override
    public void close() {
        ending.countDown();
        web.stop(0);
        encrypted.stop(0);
        s3.terminate();
    }
}
