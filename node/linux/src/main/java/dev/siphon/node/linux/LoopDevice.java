package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jnr.constants.platform.Errno;

/// An open loop device (loop(4), `linux/loop.h`): a block device backed by a file.
///
/// Devices created here are read-only and use direct I/O, bypassing the page cache of the file system below. They
/// have blocks of 4096 bytes: smaller ones would lose direct I/O on disks with sectors of that size. They clear
/// themselves: the kernel frees a device with its last user, a mount or an open descriptor. So a killed process
/// leaves none.
///
/// Every method may hang with the file system of the backing file, and throws [ErrnoException].
public final class LoopDevice implements AutoCloseable {
    private static final long LOOP_CHANGE_FD = 0x4C06;
    private static final long LOOP_GET_STATUS64 = 0x4C05;
    private static final long LOOP_SET_DIRECT_IO = 0x4C08;
    private static final long LOOP_CONFIGURE = 0x4C0A;
    private static final long BLKRASET = 0x1262;
    private static final long SECTOR_BYTES = 512;
    private static final int LO_FLAGS_READ_ONLY = 1;
    private static final int LO_FLAGS_AUTOCLEAR = 4;
    private static final int LO_FLAGS_DIRECT_IO = 16;

    /// `struct loop_config`: descriptor, block size, a `struct loop_info64`, and 64 reserved bytes.
    private static final long CONFIG_BYTES = 304;

    private static final long CONFIG_BLOCK_SIZE = 4;
    private static final long CONFIG_INFO = 8;
    private static final long INFO_BYTES = 232;
    private static final long INFO_DEVICE = 0;
    private static final long INFO_INODE = 8;
    private static final long INFO_FLAGS = 52;
    private static final long INFO_FILE_NAME = 56;

    /// The maximum length of a tag; the kernel appends a zero (`LO_NAME_SIZE` is 64).
    private static final int MAX_TAG_BYTES = 63;

    /// How far the kernel reads ahead of whoever reads a file of the device in order. With its default of 128 KiB too
    /// few requests are under way, over ceph-fuse above all. With more, each miss in a mapped file would cost more:
    /// it reads as much.
    private static final long READ_AHEAD_BYTES = 512 << 10;

    /// The block size of devices created here.
    public static final int BLOCK_BYTES = 4096;

    /// The errors besides ENOTCONN that a dead file system returns for the backing file (`vfs_getattr` in the
    /// kernel's `loop.c`).
    private static final Errno[] DEAD = {
        Errno.ECONNABORTED, Errno.EIO, Errno.ESTALE, Errno.ETIMEDOUT, Errno.EHOSTDOWN, Errno.ESHUTDOWN
    };

    /// Other programs on this machine take free devices too.
    private static final int MAX_TRIES = 100;

    private final int number;
    private final Descriptor descriptor;

    private LoopDevice(int number, Descriptor descriptor) {
        this.number = number;
        this.descriptor = descriptor;
    }

    /// Creates a device over `file`. It exists while this object is open or the device is mounted.
    ///
    /// @param tag returned by [LoopStatus#tag] from then on, even if the backing file changes
    /// @throws ErrnoException EBUSY if other programs took every free device first
    public static LoopDevice attach(DataFile file, String tag) {
        for (int tries = 1; ; tries++) {
            int free = LoopNodes.free();
            LoopDevice device = new LoopDevice(free, LoopNodes.open(free));
            try {
                device.configure(file, tag);
                device.readAhead();
                return device;
            } catch (ErrnoException e) {
                device.close();
                if (!e.is(Errno.EBUSY) || tries == MAX_TRIES) {
                    throw e;
                }
            }
        }
    }

    private void configure(DataFile file, String tag) {
        byte[] name = tag.getBytes(StandardCharsets.US_ASCII);
        if (name.length > MAX_TAG_BYTES) {
            throw new IllegalArgumentException("a loop device's tag has at most " + MAX_TAG_BYTES + " bytes: " + tag);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = arena.allocate(CONFIG_BYTES, Long.BYTES);
            config.set(ValueLayout.JAVA_INT, 0, file.number());
            config.set(ValueLayout.JAVA_INT, CONFIG_BLOCK_SIZE, BLOCK_BYTES);
            config.set(
                    ValueLayout.JAVA_INT,
                    CONFIG_INFO + INFO_FLAGS,
                    LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO);
            config.asSlice(CONFIG_INFO + INFO_FILE_NAME, name.length).copyFrom(MemorySegment.ofArray(name));
            Syscalls.IOCTL.call(descriptor.number(), LOOP_CONFIGURE, config.address());
        }
    }

    /// Sets [#READ_AHEAD_BYTES] (`linux/fs.h`, BLKRASET). Without it readers are only slower.
    private void readAhead() {
        try {
            Syscalls.IOCTL.call(descriptor.number(), BLKRASET, READ_AHEAD_BYTES / SECTOR_BYTES);
        } catch (ErrnoException _) {
            // the kernel's default stays
        }
    }

    /// Opens device `number`, which keeps it from being freed until this object is closed.
    ///
    /// @return empty if there is no such device, or it has no backing file
    public static Optional<LoopDevice> open(int number) {
        try {
            LoopDevice device = new LoopDevice(number, LoopNodes.open(number));
            boolean found = false;
            try {
                found = device.find().isPresent();
            } finally {
                if (!found) {
                    // also after an error: an open descriptor would keep the device forever
                    device.close();
                }
            }
            return found ? Optional.of(device) : Optional.empty();
        } catch (ErrnoException e) {
            if (e.is(Errno.ENXIO, Errno.ENOENT, Errno.ENODEV)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Returns the status of every configured device of this machine, including those of other programs. Skips a
    /// device whose backing file system is gone, such as after a FUSE daemon was killed or a disk shut down. One
    /// such device must not block all others.
    ///
    /// @param except devices (`major:minor`) to skip: one over a hung file system may hang too
    public static List<LoopStatus> all(Set<String> except) {
        List<LoopStatus> found = new ArrayList<>();
        for (int number : LoopNodes.all()) {
            if (LoopNodes.numbers(number).filter(except::contains).isPresent()) {
                continue;
            }
            ask(number).ifPresent(found::add);
        }
        return found;
    }

    private static Optional<LoopStatus> ask(int number) {
        try {
            return open(number).flatMap(device -> {
                try (device) {
                    return device.find();
                }
            });
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOTCONN, DEAD)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Returns the device's current status.
    public LoopStatus status() {
        return find().orElseThrow(() -> new ErrnoException("ioctl", Errno.ENXIO.intValue()));
    }

    private Optional<LoopStatus> find() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
            Syscalls.IOCTL.call(descriptor.number(), LOOP_GET_STATUS64, info.address());
            int flags = info.get(ValueLayout.JAVA_INT, INFO_FLAGS);
            return Optional.of(new LoopStatus(
                    number,
                    LoopNodes.numbers(number).orElse(""),
                    new FileIdentity(
                            info.get(ValueLayout.JAVA_LONG, INFO_DEVICE), info.get(ValueLayout.JAVA_LONG, INFO_INODE)),
                    info.getString(INFO_FILE_NAME, StandardCharsets.ISO_8859_1),
                    (flags & LO_FLAGS_READ_ONLY) != 0,
                    (flags & LO_FLAGS_DIRECT_IO) != 0,
                    (flags & LO_FLAGS_AUTOCLEAR) != 0));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENXIO)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Replaces the backing file by `file`, under the device's readers. Waits for requests in progress; later ones
    /// go to `file`. The caller ensures that both files have the same contents.
    ///
    /// @return the new status; if the change lost direct I/O, it is requested again
    /// @throws ErrnoException EINVAL if `file` has another length
    public LoopStatus change(DataFile file) {
        Syscalls.IOCTL.call(descriptor.number(), LOOP_CHANGE_FD, file.number());
        LoopStatus changed = status();
        if (changed.directIo()) {
            return changed;
        }
        try {
            Syscalls.IOCTL.call(descriptor.number(), LOOP_SET_DIRECT_IO, 1);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL)) {
                throw e;
            }
            // the file system of `file` does not support it: slower, as the status shows
        }
        return status();
    }

    /// Returns its device node, for mount(2).
    public String path() {
        return path(number);
    }

    /// Returns the device node of device `number`.
    public static String path(int number) {
        return LoopNodes.node(number).toString();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
