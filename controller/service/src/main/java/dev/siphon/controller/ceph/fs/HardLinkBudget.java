package dev.siphon.controller.ceph.fs;

/// Limits the memory for files with several names. All copies and archives of this process share it, over all
/// clusters: many may run at once on one heap.
final class HardLinkBudget {
    /// The budget is the heap divided by this.
    private static final int SHARE = 4;

    private final long bytes;
    private long used;

    HardLinkBudget(long bytes) {
        this.bytes = bytes;
    }

    /// Returns a quarter of this process's maximum heap.
    static HardLinkBudget ofThisProcess() {
        return new HardLinkBudget(Runtime.getRuntime().maxMemory() / SHARE);
    }

    /// Returns the whole budget in bytes, used or not.
    long bytes() {
        return bytes;
    }

    /// Reserves a part, which [#give] releases.
    ///
    /// @return whether the budget allowed it
    synchronized boolean take(long part) {
        if (used + part > bytes) {
            return false;
        }
        used += part;
        return true;
    }

    synchronized void give(long part) {
        used -= part;
    }
}
