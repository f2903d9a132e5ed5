package dev.siphon.controller.kubernetes;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/// A TCP relay to a server with two faults. Cut: connections stay open and new ones are accepted, but no data
/// passes, as when a network drops packets. Forget: new connections work, but old ones carry no data, as when a
/// server's address moves to another machine.
final class Relay implements AutoCloseable {
    private static final int BUFFER = 1 << 14;

    private final InetSocketAddress server;
    private final ServerSocket listening;
    private final List<Socket> open = new CopyOnWriteArrayList<>();

    /// Connections that carry no data any more.
    private final Set<Socket> forgotten = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean cut = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);

    /// Returns a driver's access to the API server through this relay.
    ///
    /// @param folder for its kubeconfig
    KubernetesAccess access(KubernetesAccess direct, Path folder) throws IOException {
        String server = Connection.config(direct).getMasterUrl();
        String text = Files.readString(direct.kubeconfig().orElseThrow());
        Path relayed = Files.writeString(folder.resolve("relayed"), text.replace(server.replaceFirst("/$", ""), url()));
        return new KubernetesAccess(direct.namespace(), Optional.of(relayed));
    }

    /// Returns a relay to that access's API server.
    static Relay to(KubernetesAccess access) {
        return new Relay(URI.create(Connection.config(access).getMasterUrl()));
    }

    /// @param server `https://HOST:PORT`
    Relay(URI server) {
        this.server = new InetSocketAddress(server.getHost(), server.getPort());
        try {
            listening = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    String url() {
        return "https://127.0.0.1:" + listening.getLocalPort();
    }

    void cut() {
        cut.set(true);
    }

    /// Blocks the open connections; new ones work.
    void forget() {
        forgotten.addAll(open);
    }

    private void accept() {
        try {
            while (true) {
                Socket here = listening.accept();
                Socket there = new Socket();
                open.addAll(List.of(here, there));
                there.connect(server);
                Thread.ofVirtual().start(() -> carry(here, there));
                Thread.ofVirtual().start(() -> carry(there, here));
            }
        } catch (IOException ended) {
            // closed
        }
    }

    private void carry(Socket from, Socket to) {
        try (from;
                to;
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            byte[] some = new byte[BUFFER];
            for (int read = in.read(some); read >= 0; read = in.read(some)) {
                if (cut.get() || forgotten.contains(from)) {
                    closed.await();
                    return;
                }
                out.write(some, 0, read);
                out.flush();
            }
        } catch (IOException ended) {
            // one of the two has closed
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            listening.close();
            for (Socket each : open) {
                each.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
