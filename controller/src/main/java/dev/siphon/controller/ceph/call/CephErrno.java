package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DriverException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The one table from an error number of Ceph (Linux numbers, errno(3)) to an error of Siphon. Callers look
/// first for the numbers that mean something to them; the rest is thrown by [#failure].
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
    /// A rename out of a directory with a quota.
    EXDEV(18, DriverException.InUse::new),
    ENOTDIR(20, DriverException.InvalidRequest::new),
    EISDIR(21, DriverException.InvalidRequest::new),
    EINVAL(22, DriverException.InvalidRequest::new),
    EFBIG(27, DriverException.CapacityOutOfRange::new),
    ENOSPC(28, DriverException.QuotaExhausted::new),
    EROFS(30, DriverException.InUse::new),
    /// A directory has as many snapshots as the MDS allows (`mds_max_snaps_per_dir`).
    EMLINK(31, DriverException.QuotaExhausted::new),
    ERANGE(34, DriverException.CapacityOutOfRange::new),
    ENAMETOOLONG(36, DriverException.InvalidRequest::new),
    ENOTEMPTY(39, DriverException.InUse::new),
    ELOOP(40, DriverException.InvalidRequest::new),
    ENODATA(61, DriverException.NotFound::new),
    EOPNOTSUPP(95, DriverException.Unsupported::new),
    ENOTCONN(107, DriverException.BackendUnavailable::new),
    /// Also what a client gets that was blocklisted (`CEPHFS_EBLOCKLISTED`).
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

    @SuppressWarnings("ImmutableEnumChecker") // always a constructor, which has no state
    private final Function<String, DriverException> error;

    CephErrno(int number, Function<String, DriverException> error) {
        this.number = number;
        this.error = error;
    }

    /// The entry for a return code, whatever its sign; empty for success (0 and more from calls that count)
    /// is not the concern of this table.
    public static Optional<CephErrno> of(int returnCode) {
        return Optional.ofNullable(BY_NUMBER.get(Math.abs(returnCode)));
    }

    /// Whether `returnCode` is this error, whatever its sign.
    public boolean is(int returnCode) {
        return Math.abs(returnCode) == number;
    }

    /// The error for a return code, not thrown; [DriverException.BackendFault] (INTERNAL) for one that is not
    /// in the table.
    ///
    /// @param what what was asked of whom, for example `fs subvolume rm in cluster lab`
    /// @param detail Ceph's own words, which may be empty; cut and made one line
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
