package dev.siphon.controller.ldap;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A TCP proxy that can be cut or paused; paused data arrives after it resumes.
final class TcpProxy implements AutoCloseable {
    private final ServerSocket server;
    private final InetSocketAddress target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition goesOn = lock.newCondition();
    private boolean held;

    /// @param address the address to listen on
    TcpProxy(String address, int targetPort) {
        try {
            server = new ServerSocket(0, 50, InetAddress.ofLiteral(address));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        target = new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort);
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /// Returns how many connections it has accepted.
    int accepted() {
        return accepted.get();
    }

    /// Pauses or resumes the forwarding.
    void hold(boolean hold) {
        lock.lock();
        try {
            held = hold;
            goesOn.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        cut();
    }

    /// Closes all connections, and accepts no more.
    void cut() {
        hold(false);
        closeQuietly(server);
        sockets.forEach(TcpProxy::closeQuietly);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                accepted.incrementAndGet();
                Socket upstream = new Socket();
                sockets.add(client);
                sockets.add(upstream);
                upstream.connect(target);
                Thread.ofVirtual().start(() -> copy(client, upstream));
                Thread.ofVirtual().start(() -> copy(upstream, client));
            }
        } catch (SocketException closed) {
            // closed, or the server is down: tests do both
            closeQuietly(server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void copy(Socket from, Socket to) {
        byte[] buffer = new byte[8192];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                awaitGoing();
                to.getOutputStream().write(buffer, 0, count);
            }
        } catch (IOException _) {
            // one side has closed; both are closed now
        }
    }

    private void awaitGoing() {
        lock.lock();
        try {
            while (held) {
                goesOn.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private static void closeQuietly(java.io.Closeable resource) {
        try {
            resource.close();
        } catch (IOException _) {
            // closed despite the error
        }
    }
}
