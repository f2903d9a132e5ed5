package dev.siphon.node;

import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;

/// Removes modules from the guest's kernel (e2e/lab.d/guest) until closed, as on a node whose distribution does not
/// build them.
final class GuestModules implements AutoCloseable {
    private static final Path LOADER = Path.of("/proc/sys/kernel/modprobe");
    private static final Path LOADED = Path.of("/proc/modules");

    private final String loader;
    private final Path refusing;

    private GuestModules(String loader, Path refusing) {
        this.loader = loader;
        this.refusing = refusing;
    }

    /// @param module the module to remove
    /// @param asked a sh(1) pattern for the names by which the kernel requests it
    static GuestModules without(Workplace workplace, String module, String asked) {
        try {
            String loader = Files.readString(LOADER).strip();
            Path refusing = workplace.path("modprobe-" + module);
            Files.writeString(
                    refusing, "#!/bin/sh\ncase \"$*\" in " + asked + ") exit 1 ;; esac\nexec " + loader + " \"$@\"\n");
            Files.setPosixFilePermissions(refusing, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.writeString(LOADER, refusing.toString());
            if (Files.readAllLines(LOADED).stream().anyMatch(line -> line.startsWith(module + " "))) {
                Programs.run(
                        Path.of(environment("SIPHON_LAB_DIR"), "guest/usr/bin/busybox")
                                .toString(),
                        "rmmod",
                        module);
            }
            return new GuestModules(loader, refusing);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + ": the test runs in a guest only (e2e/lab guest)");
    }

    @Override
    public void close() {
        try {
            Files.writeString(LOADER, loader);
            Files.delete(refusing);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
