package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.warm.GatedPod;
import java.time.Instant;
import java.util.Optional;

/// The pods that wait at the gate and have no other gate.
///
/// The memory for all tenants' pods is limited. Above [#MUCH], only pods of usual size are kept complete, so that
/// one tenant's large pods do not affect others. Above [#TOO_MUCH], none are.
final class WaitingPods implements Informer.Values<WaitingPods.Waiting> {
    /// Gated pods have no node.
    static final Informer.Source SOURCE = new Informer.Source(
            "Pods at the gate", "api/v1/pods", "&fieldSelector=spec.nodeName%3D", 100, PodParser.OF_GATED);

    /// Some 100 KiB of memory.
    private static final int MOST_OF_ONE = 1_000;

    /// More than people write.
    private static final int USUAL = 200;

    /// Some 4 MiB, and 12 MiB.
    private static final long MUCH = 40_000;

    private static final long TOO_MUCH = 120_000;

    private final PodParser reading;
    private long total;

    /// A pod, with what is needed to change it.
    ///
    /// @param since when our gate became its only one, if its object shows it
    /// @param object its parts; for a pod that is too large only metadata and gates, so that no dataset is warmed
    ///     for it
    /// @param size of the kept parts
    record Waiting(GatedPod pod, Optional<Instant> since, JsonObject object, int size) {}

    WaitingPods(PodParser reading) {
        this.reading = reading;
    }

    @Override
    public Optional<Waiting> of(ObjectParts found, Optional<Waiting> before) {
        before.ifPresent(this::gone);
        boolean fits = fits(found);
        JsonObject object = fits ? found.kept() : PodParser.bare(found.kept());
        Optional<Waiting> waiting = reading.gated(object)
                .map(pod -> new Waiting(pod, PodParser.neverHeldSince(object), object, fits ? found.size() : 0));
        total += waiting.map(Waiting::size).orElse(0);
        return waiting;
    }

    @Override
    public void gone(Waiting before) {
        total -= before.size();
    }

    private boolean fits(ObjectParts pod) {
        return pod.whole() && pod.size() <= (total < MUCH ? MOST_OF_ONE : USUAL) && total + pod.size() <= TOO_MUCH;
    }
}
