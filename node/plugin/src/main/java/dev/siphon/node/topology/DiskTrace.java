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

/// Finds the disks below a directory. The mount table names the block device of its file system. sysfs lists the
/// devices below that block device (partitions, device-mapper, LVM, md RAID).
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

    /// Resolves the symbolic links in the existing part of `path`.
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

    /// Finds the devices of a btrfs. Each subvolume has its own device number, but sysfs lists the devices of each
    /// file system, and the mount's source is one of them.
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

    /// Returns whether a block device has this name, in sysfs or in device-mapper.
    private static boolean isNamed(Path device, String name) {
        return MachineFiles.name(device).equals(name)
                || MachineFiles.text(device.resolve("dm/name"))
                        .filter(name::equals)
                        .isPresent();
    }

    /// Returns the disks below a block device in sysfs, at any depth.
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

    /// Returns a partition's disk, which is its parent directory.
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

    /// Returns the devices that the disk is attached to. With `CONFIG_NVME_MULTIPATH`, sysfs places an NVMe disk
    /// below a subsystem instead of a controller. The subsystem links to its controllers.
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
