package dev.siphon.node.linux;

import jnr.constants.platform.Errno;

/// A failed system call. The caller knows what the number means and translates it to a
/// [dev.siphon.csi.DriverException]; an untranslated one is a bug.
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
