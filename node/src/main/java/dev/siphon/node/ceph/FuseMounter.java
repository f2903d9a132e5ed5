package dev.siphon.node.ceph;

import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MemoryFile;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.MountedVolume;
import dev.siphon.node.mount.Mounter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts with ceph-fuse, one process per volume. It outlives this process, and ends by itself when its last mount is
/// gone.
///
/// It is kept from making itself a daemon: it would close its standard descriptors and go on saying things on the
/// second,
/// which by then is a socket to an OSD, or a pipe that answers go through (*seen* with 20.2: each read of a loop device
/// over it was said, and some were never answered).
///
/// The key reaches it in a file that exists only in memory, through `/proc` (see [MemoryFile]); it is read once.
public final class FuseMounter implements Mounter {
    /// The program, looked for on `PATH`.
    static final String PROGRAM = "ceph-fuse";

    private static final Logger LOG = LoggerFactory.getLogger(FuseMounter.class);
    private static final String SUBTYPE = "ceph-fuse";
    private static final String TYPE = "fuse." + SUBTYPE;

    private final String nodeName;

    /// @param nodeName the host name that the client reports to the MDS, by which its sessions are found
    public FuseMounter(String nodeName) {
        this.nodeName = nodeName;
    }

    @Override
    public String name() {
        return "fuse";
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        MountTag tag = MountTag.of(mount.volume(), mount.monitors());
        ChildProcess.Outcome outcome;
        try (MemoryFile keyring = keyring(mount.credentials())) {
            outcome = ChildProcess.start(
                    command(mount, mountPoint, tag, keyring.path(), limit), limit, () -> isMounted(mountPoint, tag));
        }
        if (!outcome.serving()) {
            // whatever ceph-fuse says, now or in a later version
            String said = outcome.output().replace(mount.credentials().key().reveal(), "***");
            throw FuseFailure.explain(mount, outcome.inTime(), limit, said);
        }
    }

    private static boolean isMounted(Path mountPoint, MountTag tag) {
        return MountTable.read()
                .at(mountPoint.toString())
                .filter(entry -> entry.source().equals(tag.toString()))
                .isPresent();
    }

    private static MemoryFile keyring(CephCredentials credentials) {
        String text = "[client." + credentials.userId() + "]\n\tkey = "
                + credentials.key().reveal() + "\n";
        byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
        try {
            return MemoryFile.of("keyring", octets);
        } finally {
            Arrays.fill(octets, (byte) 0);
        }
    }

    private List<String> command(ClientMount mount, Path mountPoint, MountTag tag, String keyring, Duration limit) {
        List<String> fuse = new ArrayList<>(List.of("fsname=" + tag, "subtype=" + SUBTYPE));
        fuse.addAll(mount.options().synchronous());
        if (mount.options().isReadOnly()) {
            fuse.add("ro");
        }
        List<String> command = new ArrayList<>(List.of(
                PROGRAM,
                "-f",
                // nothing of this node's own configuration, if it has any
                "--conf=/dev/null",
                "--id=" + mount.credentials().userId(),
                "--keyring=" + keyring,
                "-m",
                mount.monitors().toString(),
                "--client_fs=" + mount.fileSystem(),
                "--client_mountpoint=" + mount.path(),
                // what `session ls` of the MDS shows an administrator, and what fencing looks for
                "--client_metadata=hostname=" + nodeName + ",volume_id="
                        + metadataValue(mount.volume().toString()),
                "--client_mount_timeout=" + Math.max(1, limit.toSeconds() - 1),
                "--log_file=",
                "--admin_socket="));
        command.addAll(FuseOptions.arguments(mount.options().client()));
        command.addAll(List.of(mountPoint.toString(), "-o", String.join(",", fuse)));
        return command;
    }

    /// Percent-encodes what would end a value of `client_metadata`.
    private static String metadataValue(String text) {
        StringBuilder out = new StringBuilder();
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (octet & 0xff);
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || ":/._-@".indexOf(c) >= 0);
            out.append(plain ? String.valueOf(c) : String.format("%%%02X", (int) c));
        }
        return out.toString();
    }

    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        return entry.type().equals(TYPE) ? MountTag.parse(entry.source()).map(MountTag::describe) : Optional.empty();
    }

    @Override
    public boolean needsItsRoot() {
        return true;
    }

    /// Force breaks only the connection between kernel and ceph-fuse: what ceph-fuse holds it still writes.
    @Override
    public boolean mayForce(boolean dead) {
        return true;
    }

    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {
        Optional<ProcessHandle> process = processOf(unmounted);
        if (process.isEmpty()) {
            return;
        }
        try {
            process.get().onExit().get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException _) {
            LOG.atWarn()
                    .addKeyValue("pid", process.get().pid())
                    .addKeyValue("after_s", limit.toSeconds())
                    .log("ceph-fuse still writes what it holds after its last mount is gone");
        }
    }

    /// The process behind a mount: the one that was given the same tag, which no other has.
    static Optional<ProcessHandle> processOf(MountEntry entry) {
        String wanted = "fsname=" + entry.source() + ",";
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .filter(arguments -> Arrays.stream(arguments).anyMatch(a -> a.startsWith(wanted)))
                        .isPresent())
                .findFirst();
    }
}
