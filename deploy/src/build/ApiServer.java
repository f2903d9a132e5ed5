import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// Answers as an API server does, as far as a controller has to ask one before its classes are known: each list has one object, each object
/// is there, each change is taken, no watch tells anything.
///
/// usage: java ApiServer.java KEYSTORE PASSWORD_FILE PORT_FILE
final class ApiServer {
    private static final Pattern NAME = Pattern.compile("\"name\"\\s*:\\s*\"([^\"]+)\"");
    private static final Map<String, String> KEPT = new ConcurrentHashMap<>();
    private static final String TIME = "2026-01-01T00:00:00Z";

    public static void main(String[] arguments) throws Exception {
        char[] password = Files.readString(Path.of(arguments[1])).strip().toCharArray();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(Path.of(arguments[0]))) {
            keys.load(in, password);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, password);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(factory.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", ApiServer::answer);
        server.start();
        Files.writeString(Path.of(arguments[2]), server.getAddress().getPort() + "\n");
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            boolean watches = String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true");
            String body = switch (exchange.getRequestMethod()) {
                case "POST", "PUT" -> keep(exchange, sent);
                case "DELETE" -> "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": \"Success\"}";
                default -> watches ? "" : read(exchange.getRequestURI().getPath());
            };
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(body.contains("\"code\": 404") ? 404 : 200, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private static String keep(HttpExchange exchange, String sent) {
        String path = exchange.getRequestURI().getPath();
        Matcher name = NAME.matcher(sent);
        KEPT.put(exchange.getRequestMethod().equals("PUT") || !name.find() ? path : path + "/" + name.group(1), sent);
        return sent;
    }

    private static String read(String path) {
        if (KEPT.containsKey(path)) {
            return KEPT.get(path);
        }
        String last = path.substring(path.lastIndexOf('/') + 1);
        String api = path.startsWith("/apis/") ? path.split("/")[2] + "/" + path.split("/")[3] : "v1";
        String item = switch (last) {
            case "namespaces" -> object(api, "Namespace", "a", "\"status\": {}");
            case "persistentvolumes" -> object(api, "PersistentVolume", "a", """
                    "spec": {"csi": {"driver": "cephfs.siphon.dev", "volumeHandle": "s1:none:cephfs:a:b"},
                             "claimRef": {"namespace": "a", "name": "a", "uid": "a"}}""");
            case "persistentvolumeclaims" -> object(api, "PersistentVolumeClaim", "a", "\"spec\": {\"volumeName\": \"a\"}");
            case "secrets" -> object(api, "Secret", "a", "\"data\": {}");
            case "nodes" -> object(api, "Node", "a", "\"status\": {}");
            case "pods" -> object(api, "Pod", "a", """
                    "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}], "containers": [{"name": "a"}],
                             "volumes": [{"name": "a", "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "a/b"}}}]}""");
            case "datasets" -> object(api, "Dataset", "a.b", "\"spec\": {\"cluster\": \"none\", \"readers\": [\"a\"]}");
            case "datasetreplicas" -> object(api, "DatasetReplica", "a", "\"spec\": {}");
            case "datasetwarmups" -> object(api, "DatasetWarmup", "a", "\"spec\": {}");
            case "datasetaccesses" -> object(api, "DatasetAccess", "a", "\"spec\": {}");
            case "namespaceaccesses" -> object(api, "NamespaceAccess", "a", "\"spec\": {}");
            default -> "";
        };
        if (item.isEmpty()) {
            return "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": \"Failure\", \"reason\": \"NotFound\", \"code\": 404}";
        }
        return "{\"kind\": \"List\", \"apiVersion\": \"" + api + "\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [" + item + "]}";
    }

    private static String object(String api, String kind, String name, String more) {
        return "{\"kind\": \"" + kind + "\", \"apiVersion\": \"" + api + "\", \"metadata\": {\"name\": \"" + name
                + "\", \"namespace\": \"a\", \"uid\": \"a\", \"resourceVersion\": \"1\", \"creationTimestamp\": \"" + TIME + "\"}, " + more + "}";
    }
}
