package dev.siphon.controller.ceph.fs;

/// The memory for names of files with several of them, shared by all copies and archives of this process, whatever
/// their clusters: there may be many at once, and only one heap.
final class HardLinkBudget {
    /// Of the heap.
    private static final int SHARE = 4;

    private final long bytes;
    private long used;

    HardLinkBudget(long bytes) {
        this.bytes = bytes;
    }

    /// As much as this process can spare.
    static HardLinkBudget ofThisProcess() {
        return new HardLinkBudget(Runtime.getRuntime().maxMemory() / SHARE);
    }

    /// All of it, whoever has it.
    long bytes() {
        return bytes;
    }

    /// Takes a part, which [#give] gives back.
    ///
    /// @return whether there was as much
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
