package dev.siphon.controller.ceph;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// Mounts the lab's file system with ceph-fuse, for tests that need the view of another client.
public final class FuseMount implements AutoCloseable {
    private final Path root;

    private FuseMount(Path root) {
        this.root = root;
    }

    /// Mounts the root, or the directory in the options.
    public static FuseMount mount(String... options) throws IOException {
        return mount(List.of(), options);
    }

    /// Mounts as a client with another host name.
    public static FuseMount mountAs(String host, String... options) throws IOException {
        return mount(List.of("unshare", "--uts", "sh", "-c", "hostname " + host + " && exec \"$@\"", "sh"), options);
    }

    private static FuseMount mount(List<String> prefix, String... options) throws IOException {
        Path root = Files.createTempDirectory("fuse-it-");
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                "ceph-fuse",
                "--conf",
                Objects.requireNonNull(System.getenv("CEPH_CONF")),
                "--id",
                "admin",
                "--keyring",
                Objects.requireNonNull(System.getenv("CEPH_KEYRING")),
                root.toString()));
        command.addAll(List.of(options));
        run(command);
        return new FuseMount(root);
    }

    /// Returns where `path` of the file system is mounted.
    public Path at(String path) {
        return root.resolve(path.substring(1));
    }

    /// Signals ceph-fuse: `KILL`, `STOP`, `CONT`.
    public void signal(String signal) throws IOException {
        long process = ProcessHandle.allProcesses()
                .filter(each -> each.info().command().orElse("").endsWith("ceph-fuse"))
                .filter(each -> Arrays.asList(each.info().arguments().orElse(new String[0]))
                        .contains(root.toString()))
                .map(ProcessHandle::pid)
                .findFirst()
                .orElseThrow();
        run(List.of("sh", "-c", "kill -" + signal + " " + process));
    }

    private static void run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        int exit = process.onExit()
                .orTimeout(30, TimeUnit.SECONDS)
                .thenApply(Process::exitValue)
                .join();
        if (exit != 0) {
            throw new IllegalStateException(command + " failed: " + exit);
        }
    }

    @Override
    public void close() throws IOException {
        run(List.of("umount", "--lazy", root.toString()));
        Files.delete(root);
    }
}
