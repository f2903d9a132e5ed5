package dev.siphon.node.topology;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;

/// Recreates a recorded machine's files in a folder, from `NAME.machine` in the test resources. README.md there
/// describes the lines.
public final class RecordedMachine {
    private static final String BRIDGE = "0x060400";

    private final Path root;

    private RecordedMachine(Path root) {
        this.root = root;
    }

    /// Writes a machine's files for `siphon topology --sys FOLDER/sys --proc FOLDER/proc`, as `make demo` does.
    ///
    /// @param arguments an empty folder, and the machine's name
    public static void main(String[] arguments) {
        var _ = in(Path.of(arguments[0]), arguments[1]);
    }

    /// @param folder empty; must exist as long as the machine is read
    public static MachineRoots in(Path folder, String name) {
        RecordedMachine machine = new RecordedMachine(folder);
        try (InputStream in = RecordedMachine.class.getResourceAsStream(name + ".machine")) {
            String text = new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
            text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(machine::line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new MachineRoots(folder.resolve("sys"), folder.resolve("proc"));
    }

    private void line(String line) {
        if (line.contains(" = ")) {
            String[] parts = line.split(" = ", 2);
            file(parts[0], parts[1].replace("\\n", "\n").replace("\\t", "\t"));
            return;
        }
        if (line.contains(" -> ")) {
            String[] parts = line.split(" -> ", 2);
            link(parts[0], parts[1]);
            return;
        }
        String[] words = line.split(" ", -1);
        switch (words[0]) {
            case "node" -> file("sys/devices/system/node/node" + words[1] + "/cpulist", "0");
            case "pci" -> pci(words[1], words[2], words[3], words[4]);
            case "nvme" -> nvme("nvme" + words[1], words[2], words[3], words[4]);
            case "block" -> block(words[1], words[2]);
            default -> throw new IllegalArgumentException(line);
        }
    }

    private void pci(String chain, String vendor, String code, String node) {
        String[] parts = chain.split("/", -1);
        String device = "sys/devices";
        for (int i = 0; i < parts.length; i++) {
            device += "/" + parts[i];
            if (PciAddress.parse(parts[i]).isEmpty()) {
                continue;
            }
            boolean isLast = i == parts.length - 1;
            String link = "sys/bus/pci/devices/" + parts[i];
            if (Files.exists(root.resolve(link), LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            file(device + "/vendor", (isLast ? vendor : "0x8086") + "\n");
            file(device + "/class", (isLast ? code : BRIDGE) + "\n");
            if (!node.equals("-")) {
                file(device + "/numa_node", node + "\n");
            }
            link(link, "../../../" + device.substring("sys/".length()));
        }
    }

    private void nvme(String name, String chain, String numbers, String node) {
        pci(chain, "0x144d", "0x010802", node);
        link("sys/class/nvme/" + name, "../../devices/" + chain + "/nvme/" + name);
        block(chain + "/nvme/" + name + "/" + name + "n1", numbers);
    }

    private void block(String path, String numbers) {
        file("sys/devices/" + path + "/dev", numbers + "\n");
        String name = path.substring(path.lastIndexOf('/') + 1);
        link("sys/class/block/" + name, "../../devices/" + path);
        link("sys/dev/block/" + numbers, "../../devices/" + path);
    }

    private void file(String path, String text) {
        try {
            Files.writeString(parent(path), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void link(String path, String target) {
        try {
            Files.createSymbolicLink(parent(path), Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path parent(String path) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        return file;
    }
}
