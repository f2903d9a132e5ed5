package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// The device nodes of loop devices. A container's `/dev` only has those that existed when it started, while the
/// kernel adds devices when all are used. Missing nodes are created here, in this container's `/dev` only.
final class LoopNodes {
    private static final Path DEVICES = Path.of("/dev");
    private static final Path BLOCK_DEVICES = Path.of("/sys/block");
    private static final Path CONTROL = DEVICES.resolve("loop-control");
    private static final String PREFIX = "loop";
    private static final int S_IFBLK = 0x6000;
    private static final int S_IFCHR = 0x2000;
    private static final int OWNER_ONLY = 0600;

    /// `LOOP_CTRL_MINOR` of `linux/miscdevice.h`.
    private static final long CONTROL_NUMBERS = FileIdentity.encode(10, 237);

    private static final long LOOP_CTL_GET_FREE = 0x4C82;

    private LoopNodes() {}

    /// Returns the number of a free device. The kernel adds one if none is free.
    static int free() {
        if (!Files.exists(CONTROL)) {
            make(CONTROL, S_IFCHR, CONTROL_NUMBERS);
        }
        try (Descriptor control = Descriptor.open(CONTROL.toString(), Descriptor.O_RDWR)) {
            return Math.toIntExact(Syscalls.IOCTL.call(control.number(), LOOP_CTL_GET_FREE));
        }
    }

    static Path node(int number) {
        return DEVICES.resolve(PREFIX + number);
    }

    /// @throws ErrnoException ENOENT if there is no such device
    static Descriptor open(int number) {
        Path node = node(number);
        if (!Files.exists(node)) {
            String numbers = numbers(number).orElseThrow(() -> new ErrnoException("open", Errno.ENOENT.intValue()));
            int colon = numbers.indexOf(':');
            int major = Integer.parseInt(numbers.substring(0, colon));
            make(node, S_IFBLK, FileIdentity.encode(major, Integer.parseInt(numbers.substring(colon + 1))));
        }
        return Descriptor.open(node.toString(), 0);
    }

    /// Returns all loop devices of the kernel, used or not.
    static List<Integer> all() {
        List<Integer> numbers = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(BLOCK_DEVICES, PREFIX + "[0-9]*")) {
            entries.forEach(entry -> numbers.add(
                    Integer.parseInt(String.valueOf(entry.getFileName()).substring(PREFIX.length()))));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list the block devices", e);
        }
        return numbers;
    }

    /// Returns a device's `major:minor`; empty if there is no such device.
    static Optional<String> numbers(int number) {
        try {
            Path file = BLOCK_DEVICES.resolve(PREFIX + number).resolve("dev");
            return Optional.of(Files.readString(file).strip());
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the numbers of loop device " + number, e);
        }
    }

    private static void make(Path node, int type, long device) {
        try (Arena arena = Arena.ofConfined()) {
            Syscalls.MKNODAT.call(Syscalls.AT_FDCWD, Syscalls.text(arena, node.toString()), type | OWNER_ONLY, device);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EEXIST)) {
                throw e;
            }
        }
    }
}
