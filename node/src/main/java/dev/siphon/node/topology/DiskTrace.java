package dev.siphon.node.topology;

import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/// From a directory to the disks below it: the mount table says which block device its file system is on, sysfs
/// which devices that one is made of (partitions, device-mapper, LVM, md RAID).
final class DiskTrace {
    private static final Pattern SUBSYSTEM = Pattern.compile("nvme-subsys[0-9]+");
    private static final Pattern CONTROLLER = Pattern.compile("nvme[0-9]+");

    private final MachineRoots roots;
    private final OptionalInt onlyNode;

    DiskTrace(MachineRoots roots) {
        this.roots = roots;
        this.onlyNode = NumaNodes.read(roots).only();
    }

    List<StorageDevice> of(Path directory) {
        return mount(resolved(directory)).map(this::devices).orElse(List.of());
    }

    /// `path` with its links followed, as far as it exists.
    private static Path resolved(Path path) {
        Path there = path.normalize();
        while (!Files.exists(there, LinkOption.NOFOLLOW_LINKS) && there.getParent() != null) {
            there = there.getParent();
        }
        Path missing = there.relativize(path.normalize());
        return MachineFiles.real(there).orElse(there).resolve(missing).normalize();
    }

    private Optional<MountEntry> mount(Path path) {
        try {
            return MountTable.read(roots.proc().resolve("self/mountinfo")).holding(path.toString());
        } catch (UncheckedIOException | IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private List<StorageDevice> devices(MountEntry mount) {
        List<Path> start = new ArrayList<>();
        if (mount.type().equals("btrfs")) {
            start.addAll(btrfs(mount.source()));
        } else {
            start.add(roots.sys().resolve("dev/block").resolve(mount.device()));
        }
        return start.stream().flatMap(each -> disks(each).stream()).distinct().toList();
    }

    /// btrfs has a device number of its own for each subvolume; sysfs lists the devices of each file system, one
    /// of which is named as the source of the mount.
    private List<Path> btrfs(String source) {
        String name = MachineFiles.name(MachineFiles.real(Path.of(source)).orElse(Path.of(source)));
        for (Path volume : MachineFiles.entries(roots.sys().resolve("fs/btrfs"))) {
            List<Path> members = MachineFiles.entries(volume.resolve("devices"));
            if (members.stream().anyMatch(member -> isNamed(member, name))) {
                return members;
            }
        }
        return List.of(roots.sys().resolve("class/block").resolve(name));
    }

    /// Whether a block device has this name, or device-mapper's.
    private static boolean isNamed(Path device, String name) {
        return MachineFiles.name(device).equals(name)
                || MachineFiles.text(device.resolve("dm/name"))
                        .filter(name::equals)
                        .isPresent();
    }

    /// The disks that a block device of sysfs is made of, at whatever depth.
    private List<StorageDevice> disks(Path start) {
        List<StorageDevice> found = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        Deque<Path> left = new ArrayDeque<>();
        left.add(start);
        while (!left.isEmpty()) {
            Optional<Path> device = MachineFiles.real(left.remove()).filter(seen::add);
            List<Path> below =
                    device.map(it -> MachineFiles.entries(it.resolve("slaves"))).orElse(List.of());
            left.addAll(below);
            if (device.isPresent() && below.isEmpty()) {
                found.addAll(disk(whole(device.get())));
            }
        }
        return found;
    }

    /// A partition's disk is the folder that it is in.
    private static Path whole(Path device) {
        return Files.exists(device.resolve("partition"))
                ? Optional.ofNullable(device.getParent()).orElse(device)
                : device;
    }

    private List<StorageDevice> disk(Path disk) {
        String name = MachineFiles.name(disk);
        List<PciPath> paths = controllers(disk).stream()
                .flatMap(each -> PciPath.of(each).stream())
                .map(path -> path.orNumaNode(onlyNode))
                .toList();
        return paths.isEmpty()
                ? List.of(new StorageDevice(name, Optional.empty()))
                : paths.stream()
                        .map(path -> new StorageDevice(name, Optional.of(path)))
                        .toList();
    }

    /// Where the disk is plugged in. An NVMe disk that could have several ways to it (`CONFIG_NVME_MULTIPATH`)
    /// belongs to none of them in sysfs, but to a subsystem that links to its controllers.
    private static List<Path> controllers(Path disk) {
        Path parent = Optional.ofNullable(disk.getParent()).orElse(disk);
        if (!SUBSYSTEM.matcher(MachineFiles.name(parent)).matches()) {
            return List.of(disk);
        }
        return MachineFiles.entries(parent).stream()
                .filter(each -> CONTROLLER.matcher(MachineFiles.name(each)).matches())
                .flatMap(each -> MachineFiles.real(each).stream())
                .toList();
    }
}
