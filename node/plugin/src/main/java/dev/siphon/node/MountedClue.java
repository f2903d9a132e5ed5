package dev.siphon.node;

import dev.siphon.csi.CephPath;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.ceph.MountTag;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds out what a loop device or a path of this node shows. Nothing is opened: a file system that hangs does not
/// hold this up.
final class MountedClue {
    private static final Pattern LOOP_DEVICE = Pattern.compile("/dev/(loop[0-9]{1,7})");

    /// The tree of a dataset: `STATE/DIGEST/PLACE/mount`, see [dev.siphon.node.replica.ImageMountKey]. A kubelet's
    /// staging path has 64 such digits too.
    private static final Pattern TREE = Pattern.compile(".*/([0-9a-f]{64})/[a-z0-9]{1,12}/mount");

    /// A kubelet's path.
    private static final Pattern POD =
            Pattern.compile(".*/pods/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/.*");

    /// The source of a mount by the kernel's client (mount.ceph(8)).
    private static final Pattern KERNEL_SOURCE = Pattern.compile("[^/]+[:=](/.*)");

    private final MountTable table;
    private final Function<String, Optional<String>> backingFile;

    /// @param backingFile returns the file behind a loop device, by the device's name
    MountedClue(MountTable table, Function<String, Optional<String>> backingFile) {
        this.table = table;
        this.backingFile = backingFile;
    }

    /// @param what its kind, such as `mounted`
    record Fact(String what, String value) {}

    /// @param clue `/dev/loopN`, or an absolute path
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is neither
    /// @throws DriverException.NotFound (NOT_FOUND) if it is nothing of Siphon's here
    List<Fact> of(String clue) {
        Matcher device = LOOP_DEVICE.matcher(clue);
        if (device.matches()) {
            return ofDevice(clue, mountsOf(clue));
        }
        if (!CephPath.isClean(clue)) {
            throw new DriverException.InvalidRequest(
                    QuotedText.of(clue) + " is no loop device and no absolute path without '.' and '..'");
        }
        MountEntry mount = table.holding(clue).orElseThrow(() -> unknown(clue, "it is on no mount"));
        return LOOP_DEVICE.matcher(mount.source()).matches()
                ? ofDevice(mount.source(), mountsOf(mount.source()))
                : ofVolume(clue, mount);
    }

    private List<MountEntry> mountsOf(String source) {
        return table.entries().stream()
                .filter(mount -> mount.source().equals(source))
                .toList();
    }

    private List<Fact> ofDevice(String device, List<MountEntry> mounts) {
        String digest = mounts.stream()
                .map(mount -> TREE.matcher(mount.mountPoint()))
                .filter(Matcher::matches)
                .map(tree -> tree.group(1))
                .findFirst()
                .orElseThrow(() -> unknown(device, "no tree of a dataset is mounted from it"));
        List<Fact> facts = new ArrayList<>();
        facts.add(new Fact("device", device));
        backingFile.apply(device.substring("/dev/".length())).ifPresent(file -> facts.add(new Fact("backfile", file)));
        facts.add(new Fact("digest", digest));
        addMounts(facts, mounts);
        facts.add(next(digest));
        return facts;
    }

    private List<Fact> ofVolume(String clue, MountEntry mount) {
        Optional<String> volume =
                MountTag.parse(mount.source()).map(tag -> tag.volume().toString());
        Matcher kernel = KERNEL_SOURCE.matcher(mount.source());
        boolean isCeph = mount.type().equals("ceph") && kernel.matches();
        if (volume.isEmpty() && !isCeph) {
            throw unknown(
                    clue, "it is on " + QuotedText.of(mount.source()) + " of type " + QuotedText.of(mount.type()));
        }
        List<Fact> facts = new ArrayList<>();
        facts.add(new Fact("source", mount.source()));
        volume.ifPresent(id -> facts.add(new Fact("volume", id)));
        addMounts(
                facts,
                table.entries().stream()
                        .filter(each -> each.device().equals(mount.device()))
                        .toList());
        facts.add(next(volume.orElseGet(() -> kernel.group(1))));
        return facts;
    }

    /// Adds where it is mounted, and the pods that see it there.
    private static void addMounts(List<Fact> facts, List<MountEntry> mounts) {
        Set<String> pods = new TreeSet<>();
        for (MountEntry mount : mounts) {
            facts.add(new Fact("mounted", mount.mountPoint()));
            Matcher pod = POD.matcher(mount.mountPoint());
            if (pod.matches()) {
                pods.add(pod.group(1));
            }
        }
        pods.forEach(uid -> facts.add(new Fact("pod", "with uid " + uid)));
    }

    private static Fact next(String clue) {
        return new Fact("next", "siphon whois '" + clue + "' in a controller's pod says whose it is");
    }

    private static DriverException.NotFound unknown(String clue, String why) {
        return new DriverException.NotFound(QuotedText.of(clue) + " is nothing of Siphon's on this machine: " + why
                + ". Run this in the pod of the node that has it; findmnt shows its mounts");
    }
}
