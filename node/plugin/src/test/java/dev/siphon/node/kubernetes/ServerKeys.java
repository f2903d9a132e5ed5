package dev.siphon.node.kubernetes;

import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// The key of a TLS API server, and its certificate as pods find it (`ca.crt`).
final class ServerKeys {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private ServerKeys() {}

    /// Creates a key and a self-signed certificate for 127.0.0.1, stored as `ca.crt` as in a pod.
    static SSLContext make(Path folder) throws IOException, GeneralSecurityException {
        Path store = folder.resolve("keys.p12");
        keytool(
                folder,
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=api",
                "-ext",
                "san=ip:127.0.0.1",
                "-validity",
                "2");
        keytool(folder, "-exportcert", "-rfc", "-file", folder.resolve("ca.crt").toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    private static void keytool(Path folder, String... arguments) {
        String[] command = new String[arguments.length + 7];
        command[0] = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        List<String> store = List.of(
                "-alias",
                "api",
                "-keystore",
                folder.resolve("keys.p12").toString(),
                "-storepass",
                new String(PASSWORD));
        for (int i = 0; i < store.size(); i++) {
            command[arguments.length + 1 + i] = store.get(i);
        }
        Programs.run(command);
    }
}
