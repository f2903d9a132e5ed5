package dev.siphon.node.linux;

import jnr.constants.platform.Errno;

/// A system call that failed. Whoever made the call knows what the number means there, and says so with a
/// [dev.siphon.csi.DriverException]; one that nobody translated is a bug.
public final class ErrnoException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Errno errno;

    /// @param call the system call's name
    /// @param number its `errno`
    public ErrnoException(String call, int number) {
        this(call, Errno.valueOf(number));
    }

    private ErrnoException(String call, Errno errno) {
        super(call + ": " + errno.name() + " (" + errno + ")");
        this.errno = errno;
    }

    public Errno errno() {
        return errno;
    }

    public boolean is(Errno first, Errno... others) {
        return errno == first || java.util.List.of(others).contains(errno);
    }
}
