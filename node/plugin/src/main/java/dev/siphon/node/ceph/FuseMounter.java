package dev.siphon.node.ceph;

import dev.siphon.csi.CephClientLog;
import dev.siphon.node.fuse.FuseCaches;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.FuseStart;
import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.MountedVolume;
import dev.siphon.node.mount.Mounter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts with ceph-fuse, one process per volume. The process outlives this one, and exits when its last mount is
/// gone.
///
/// ceph-fuse runs in the foreground (`-f`). As a daemon it would close its standard descriptors and keep writing
/// messages to the second. By then that is a socket to an OSD, or a pipe that carries replies. (*Seen* with 20.2:
/// it logged each read of a loop device over it, and never answered some.)
public final class FuseMounter implements Mounter {
    private static final Logger LOG = LoggerFactory.getLogger(FuseMounter.class);
    private static final String SUBTYPE = "ceph-fuse";
    private static final String TYPE = "fuse." + SUBTYPE;

    private final String nodeName;
    private final FuseCaches caches;
    private final FuseProcesses processes;

    /// @param nodeName the host name that the client reports to the MDS, which identifies its sessions
    public FuseMounter(String nodeName, FuseCaches caches, FuseProcesses processes) {
        this.nodeName = nodeName;
        this.caches = caches;
        this.processes = processes;
    }

    @Override
    public String name() {
        return "fuse";
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        MountTag tag = MountTag.of(mount.volume(), mount.monitors());
        ChildProcess.StartOutcome outcome = processes.start(
                new FuseStart(
                        FuseProgram.CEPH_FUSE,
                        tag.toString(),
                        mountPoint,
                        arguments(mount, mountPoint, tag, limit),
                        Optional.of(mount.credentials())),
                limit);
        if (!outcome.serving()) {
            throw FuseFailure.explain(mount, outcome.inTime(), limit, outcome.output());
        }
    }

    private List<String> arguments(ClientMount mount, Path mountPoint, MountTag tag, Duration limit) {
        List<String> fuse =
                new ArrayList<>(List.of(FuseProgram.CEPH_FUSE.option(tag.toString()), "subtype=" + SUBTYPE));
        fuse.addAll(mount.options().synchronous());
        if (mount.options().isReadOnly()) {
            fuse.add("ro");
        }
        List<String> arguments = new ArrayList<>(List.of(
                "-f",
                // ignore the node's own configuration, if there is one
                "--conf=/dev/null",
                "--id=" + mount.credentials().userId(),
                "-m",
                mount.monitors().toString(),
                "--client_fs=" + mount.fileSystem(),
                FuseStart.DIRECTORY + mount.path(),
                // shown by `session ls` of the MDS; fencing searches for it
                "--client_metadata=hostname=" + nodeName + ",volume_id="
                        + metadataValue(mount.volume().toString()),
                "--client_mount_timeout=" + Math.max(1, limit.toSeconds() - 1),
                "--log_file=",
                "--admin_socket="));
        CephClientLog.options().forEach((option, value) -> arguments.add("--" + option + "=" + value));
        arguments.addAll(caches.arguments());
        arguments.addAll(FuseOptions.arguments(mount.options().client()));
        arguments.addAll(List.of(mountPoint.toString(), "-o", String.join(",", fuse)));
        return arguments;
    }

    /// Percent-encodes characters that would end a value of `client_metadata`.
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

    /// Force only breaks the connection between kernel and ceph-fuse: ceph-fuse still writes its cached data.
    @Override
    public boolean mayForce(boolean dead) {
        return true;
    }

    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {
        if (!processes.awaitEnd(FuseProgram.CEPH_FUSE, unmounted.source(), limit)) {
            LOG.atWarn()
                    .addKeyValue("mount", unmounted.source())
                    .addKeyValue("after_s", limit.toSeconds())
                    .log("ceph-fuse still writes back data after its last unmount");
        }
    }
}
