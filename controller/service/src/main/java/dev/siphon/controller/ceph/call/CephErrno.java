package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DriverException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Maps an errno of Ceph (Linux numbers, errno(3)) to a [DriverException]; no other table exists. Callers first
/// check for the numbers that they handle; [#failure] converts the rest.
public enum CephErrno {
    EPERM(1, DriverException.AccessDenied::new),
    ENOENT(2, DriverException.NotFound::new),
    EINTR(4, DriverException.BackendUnavailable::new),
    EIO(5, DriverException.BackendUnavailable::new),
    ENXIO(6, DriverException.BackendUnavailable::new),
    EAGAIN(11, DriverException.OperationPending::new),
    ENOMEM(12, DriverException.BackendUnavailable::new),
    EACCES(13, DriverException.AccessDenied::new),
    EBUSY(16, DriverException.OperationPending::new),
    EEXIST(17, DriverException.IncompatibleExisting::new),
    /// Rename out of a directory with a quota.
    EXDEV(18, DriverException.InUse::new),
    ENOTDIR(20, DriverException.InvalidRequest::new),
    EISDIR(21, DriverException.InvalidRequest::new),
    EINVAL(22, DriverException.InvalidRequest::new),
    EFBIG(27, DriverException.CapacityOutOfRange::new),
    ENOSPC(28, DriverException.QuotaExhausted::new),
    EROFS(30, DriverException.InUse::new),
    /// The directory has the maximum number of snapshots (`mds_max_snaps_per_dir`).
    EMLINK(31, DriverException.QuotaExhausted::new),
    ERANGE(34, DriverException.CapacityOutOfRange::new),
    ENAMETOOLONG(36, DriverException.InvalidRequest::new),
    ENOTEMPTY(39, DriverException.InUse::new),
    ELOOP(40, DriverException.InvalidRequest::new),
    ENODATA(61, DriverException.NotFound::new),
    EOPNOTSUPP(95, DriverException.Unsupported::new),
    ENOTCONN(107, DriverException.BackendUnavailable::new),
    /// Also returned to a blocklisted client (`CEPHFS_EBLOCKLISTED`).
    ESHUTDOWN(108, DriverException.BackendUnavailable::new),
    ETIMEDOUT(110, DriverException.BackendUnavailable::new),
    ECONNREFUSED(111, DriverException.BackendUnavailable::new),
    EHOSTDOWN(112, DriverException.BackendUnavailable::new),
    ESTALE(116, DriverException.BackendUnavailable::new),
    EDQUOT(122, DriverException.QuotaExhausted::new),
    ECANCELED(125, DriverException.BackendUnavailable::new);

    private static final int MAX_DETAIL_CHARS = 300;
    private static final Map<Integer, CephErrno> BY_NUMBER =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(errno -> errno.number, errno -> errno));

    private final int number;

    @SuppressWarnings("ImmutableEnumChecker") // always a constructor reference, which has no state
    private final Function<String, DriverException> error;

    CephErrno(int number, Function<String, DriverException> error) {
        this.number = number;
        this.error = error;
    }

    /// Returns the entry for a return code of either sign; empty for 0 and for errors that are not in the table.
    /// Do not pass the results of successful calls that return a count.
    public static Optional<CephErrno> of(int returnCode) {
        return Optional.ofNullable(BY_NUMBER.get(Math.abs(returnCode)));
    }

    /// Returns whether `returnCode`, of either sign, is this error.
    public boolean is(int returnCode) {
        return Math.abs(returnCode) == number;
    }

    /// Returns the exception for a return code without throwing it; [DriverException.BackendFault] (INTERNAL) if
    /// the code is not in the table.
    ///
    /// @param what the request and its target, for example `fs subvolume rm in cluster lab`
    /// @param detail Ceph's message, which may be empty; shortened and reduced to one line
    public static DriverException failure(int returnCode, String what, String detail) {
        String words = oneLine(detail);
        return of(returnCode)
                .map(errno -> errno.error.apply(message(what, errno.name(), words)))
                .orElseGet(
                        () -> new DriverException.BackendFault(message(what, "error " + Math.abs(returnCode), words)));
    }

    private static String message(String what, String errno, String words) {
        return what + " failed: " + errno + (words.isEmpty() ? "" : ": " + words);
    }

    private static String oneLine(String detail) {
        String line = detail.strip().replaceAll("\\p{Cntrl}+", " ");
        return line.length() > MAX_DETAIL_CHARS ? line.substring(0, MAX_DETAIL_CHARS) + "..." : line;
    }
}
