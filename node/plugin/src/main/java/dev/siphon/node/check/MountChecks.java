package dev.siphon.node.check;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import dev.siphon.node.ceph.KernelClient;
import dev.siphon.node.ceph.MounterSelection;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileOwner;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.SystemErrors;
import dev.siphon.node.linux.UserNamespace;
import dev.siphon.node.mount.CephKey;
import dev.siphon.node.replica.ErofsSelection;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Checks the prerequisites of mounts: the kernel, ceph-fuse, and this process's privileges.
///
/// @param mounter the configured client for volumes; `auto` means the kernel's client where possible
/// @param keyType the type of the volumes' keys; empty if it is not configured
public record MountChecks(MounterChoice mounter, Optional<CephKey.Kind> keyType) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path FUSE = Path.of("/dev/fuse");
    private static final Path LOOP = Path.of("/dev/loop-control");

    /// The line of proc_pid_status(5) with the effective capabilities.
    private static final String EFFECTIVE = "CapEff:";

    /// The capability for mount(2) (`include/uapi/linux/capability.h`).
    private static final int CAP_SYS_ADMIN = 21;

    private static final FileOwner SOMEBODY = new FileOwner(1, 1);

    /// Runs all checks.
    public void run(Checklist list) {
        var _ = list.check("privileges", _ -> "mount /proc", MountChecks::status, MountChecks::privileges);
        Optional<KernelClient> kernel = list.check(
                "kernel ceph",
                _ -> "run it as root; in Kubernetes the node's container is privileged",
                () -> ofKernel("asking the kernel for ceph", KernelClient::ask),
                this::client);
        kernel.ifPresent(known -> {
            list.note("key type", keyType(known));
            list.note("ceph-fuse", fuse(known, MounterSelection.isFuseInstalled(), Files.exists(FUSE)));
            var _ = list.check(
                    "idmapped mounts",
                    _ -> "set user.max_user_namespaces above 0 and put util-linux's unshare on the PATH; or use classes"
                            + " without containerUser",
                    () -> maps(known, list.limit()),
                    answer -> answer);
        });
        var _ = list.check(
                "erofs",
                _ -> "run it as root; in Kubernetes the node's container is privileged",
                () -> ofKernel("asking the kernel for erofs", () -> MountSyscalls.kernelHas("erofs")),
                there -> erofs(there, ErofsSelection.isProgramInstalled(), Files.exists(FUSE)));
        var _ = list.check(
                "loop devices",
                _ ->
                        "`modprobe loop`, or a kernel built with CONFIG_BLK_DEV_LOOP; in a container mount the host's /dev",
                () -> opens(LOOP),
                CheckOutcome.Ok::new);
    }

    private static List<String> status() {
        try {
            return Files.readAllLines(STATUS);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable(STATUS + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// @param status the lines of proc_pid_status(5)
    static CheckOutcome privileges(List<String> status) {
        boolean may = status.stream()
                .filter(line -> line.startsWith(EFFECTIVE))
                .map(line -> Long.parseUnsignedLong(
                        line.substring(EFFECTIVE.length()).strip(), 16))
                .anyMatch(bits -> (bits >>> CAP_SYS_ADMIN & 1) == 1);
        return may
                ? new CheckOutcome.Ok("CAP_SYS_ADMIN")
                : new CheckOutcome.Failed(
                        "this process has no CAP_SYS_ADMIN, so it cannot mount",
                        "run it as root; in Kubernetes the node's container is privileged");
    }

    /// Checks the kernel's client.
    CheckOutcome client(KernelClient kernel) {
        if (mounter == MounterChoice.FUSE) {
            return new CheckOutcome.Skipped("--mounter is fuse");
        }
        if (kernel.hasCeph()) {
            return new CheckOutcome.Ok("Linux " + kernel.release());
        }
        return unlessFuse(
                "the kernel has no ceph file system, and no module for it",
                "`modprobe ceph`, or a kernel built with CONFIG_CEPH_FS");
    }

    /// Reports an obstacle for the kernel's client: a warning if ceph-fuse replaces it, else a failure. Another
    /// check covers ceph-fuse itself.
    private CheckOutcome unlessFuse(String found, String remedy) {
        return mounter == MounterChoice.AUTO
                ? new CheckOutcome.Warned(found + ": volumes are mounted by ceph-fuse", remedy)
                : new CheckOutcome.Failed(found, remedy + "; or --mounter=fuse if ceph-fuse will do");
    }

    /// Checks whether the kernel's client can use the volumes' keys. If their type is not known, says what happens
    /// with each.
    CheckOutcome keyType(KernelClient kernel) {
        if (mounter == MounterChoice.FUSE || !kernel.hasCeph()) {
            return new CheckOutcome.Skipped("the kernel's client mounts nothing");
        }
        if (keyType.isEmpty()) {
            return new CheckOutcome.Ok(Stream.of(CephKey.Kind.values())
                    .map(kind -> kind + ": " + client(kernel, kind))
                    .collect(Collectors.joining("; ")));
        }
        return kernel.obstacle(keyType.get())
                .map(why -> unlessFuse(
                        why,
                        "a newer kernel, or one with aes256k from its distribution; or --key-type=aes on the"
                                + " controller, which leaves CVE-2025-30156 open (docs/how-to/install.md)"))
                .orElseGet(() -> new CheckOutcome.Ok("can use " + keyType.get()));
    }

    /// Returns which client mounts with a key of that kind, for people.
    private String client(KernelClient kernel, CephKey.Kind kind) {
        return kernel.obstacle(kind)
                .map(why -> (mounter == MounterChoice.AUTO ? "ceph-fuse" : "nothing mounts") + ", as " + why)
                .orElse("the kernel's client");
    }

    /// Checks ceph-fuse.
    CheckOutcome fuse(KernelClient kernel, boolean installed, boolean device) {
        if (mounter == MounterChoice.KERNEL) {
            return new CheckOutcome.Skipped("--mounter is kernel");
        }
        if (installed && device) {
            return new CheckOutcome.Ok("installed");
        }
        if (mounter == MounterChoice.AUTO
                && kernel.obstacle(CephKey.Kind.AES256K).isEmpty()) {
            return new CheckOutcome.Skipped("the kernel's client can use every key");
        }
        return installed
                ? new CheckOutcome.Failed(FUSE + " is missing", "`modprobe fuse`; in a container mount the host's /dev")
                : new CheckOutcome.Failed(
                        "ceph-fuse is not on the PATH", "install Ceph's ceph-fuse; or --mounter=kernel");
    }

    /// Checks whether owners can be mapped, as `containerUser` needs. Whether the MDS supports that shows only at
    /// the first publish.
    private CheckOutcome maps(KernelClient kernel, Duration limit) {
        if (mounter == MounterChoice.FUSE || !kernel.hasCeph()) {
            return new CheckOutcome.Skipped("the kernel's client mounts nothing");
        }
        if (!kernel.mapsOwners()) {
            return new CheckOutcome.Failed(
                    "CephFS of Linux " + kernel.release() + " cannot map owners",
                    "Linux 6.7, or a kernel with that from its distribution; or classes without containerUser");
        }
        try (UserNamespace _ = UserNamespace.mapping(SOMEBODY, SOMEBODY, limit)) {
            return new CheckOutcome.Ok("can be made");
        } catch (UncheckedIOException e) {
            throw new DriverException.BackendUnavailable("no user namespace can be made: " + e.getMessage(), e);
        }
    }

    /// Checks what can read datasets.
    ///
    /// @param there whether the kernel has EROFS
    /// @param installed whether erofsfuse is installed
    /// @param device whether `/dev/fuse` exists
    static CheckOutcome erofs(boolean there, boolean installed, boolean device) {
        if (there) {
            return new CheckOutcome.Ok("the kernel has it");
        }
        String remedy = "`modprobe erofs`, or a kernel built with CONFIG_EROFS_FS";
        String found = "the kernel has no erofs file system, and no module for it";
        if (installed && device) {
            return new CheckOutcome.Warned(
                    found + ": datasets are read by erofsfuse, slower, and only as long as the node's pod runs",
                    remedy);
        }
        return new CheckOutcome.Failed(
                found + (installed ? ", and " + FUSE + " is missing" : ", and erofsfuse is not on the PATH"),
                remedy + ": datasets are EROFS images; or, slower, "
                        + (installed ? "`modprobe fuse`; in a container mount the host's /dev" : "install erofsfuse"));
    }

    private static String opens(Path device) {
        try (InputStream _ = Files.newInputStream(device)) {
            return device.toString();
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable(device + " cannot be opened: " + e, e);
        }
    }

    private static <T> T ofKernel(String what, Supplier<T> question) {
        try {
            return question.get();
        } catch (ErrnoException e) {
            throw SystemErrors.translate(what, e);
        }
    }
}
