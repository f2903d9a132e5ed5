package dev.siphon.controller.kubernetes;

/// How much is kept of the pods that wait at the gate, of all tenants together. Where that is much, only pods of the
/// usual
/// length are kept as a whole, so that one tenant's long ones cost others nothing, and where it is too much none.
///
/// For one look.
final class GatedSizes {
    /// Some 100 KiB of memory.
    private static final int MOST_OF_ONE = 1_000;

    /// Longer than what people write.
    private static final int USUAL = 200;

    /// Some 4 MiB, and 12.
    private static final long MUCH = 40_000;

    private static final long TOO_MUCH = 120_000;

    private long total;

    /// Whether the pod is to be kept as a whole.
    boolean fits(ObjectParts pod) {
        return pod.whole() && pod.size() <= (total < MUCH ? MOST_OF_ONE : USUAL) && total + pod.size() <= TOO_MUCH;
    }

    /// The pod is kept as a whole.
    void add(ObjectParts pod) {
        total += pod.size();
    }
}
