package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.NodeRules;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The pods that wait at the gate and have no other gate.
///
/// The memory for all tenants' pods is limited. Above [#MUCH], only pods of usual size are kept complete, so that
/// one tenant's large pods do not affect others. Of [#TOO_MUCH], each namespace gets at most half of what the others
/// leave. Of other pods only the identity is kept, so that their gate opens. Above [#MOST], pods are left out until
/// there is room.
final class WaitingPods implements Informer.Values<WaitingPods.Waiting> {
    /// Gated pods have no node.
    static final Informer.Source SOURCE = new Informer.Source(
            "Pods at the gate", "api/v1/pods", "&fieldSelector=spec.nodeName%3D", 100, PodParser.OF_GATED);

    private static final Logger LOG = LoggerFactory.getLogger(WaitingPods.class);

    /// Most bytes of one pod.
    static final long MOST_OF_ONE = 100 << 10;

    /// More than people write.
    static final long USUAL = 20 << 10;

    /// Bytes of all pods.
    static final long MUCH = 4 << 20;

    static final long TOO_MUCH = 12 << 20;
    static final long MOST = 16 << 20;

    /// Pods that were left out are listed once this much is free.
    private static final long ROOM = 1 << 20;

    /// What a pod takes beside its texts: records, and its entries in the caches of the gate.
    private static final long OF_A_POD = 1_000;

    /// What a text takes beside its characters: it is in a list, a map or a record.
    private static final long OF_A_TEXT = 120;

    static final String LARGE = "the tolerations, node rules, resources, volumes, claims and job labels of the pod need"
            + " more than " + (MOST_OF_ONE >> 10)
            + " KiB of the controller's memory (where many pods wait, more than "
            + (USUAL >> 10) + " KiB). So nothing is filled for it, and the gate opens";
    static final String MANY = "the pods of this namespace at the gate need more than its share of the controller's"
            + " memory, which is half of what others leave of " + (TOO_MUCH >> 20)
            + " MiB. So nothing is filled for this one, and the gate opens";

    private final PodParser reading;

    /// The bytes of all kept pods.
    private final NamespaceShares bytes = new NamespaceShares(TOO_MUCH);

    /// Whether a pod was left out since the last list.
    private boolean isIncomplete;

    /// A pod, with what is needed to change it.
    ///
    /// @param since when our gate became its only one, if its object shows it
    /// @param affinity its node affinity
    /// @param devices the ResourceClaims that it asks for
    /// @param bytes about what it takes
    record Waiting(
            GatedPod pod, Optional<Instant> since, NodeAffinity affinity, List<PodResourceClaim> devices, long bytes) {
        Waiting {
            devices = List.copyOf(devices);
        }

        static Waiting of(
                GatedPod pod, Optional<Instant> since, NodeAffinity affinity, List<PodResourceClaim> devices) {
            return new Waiting(pod, since, affinity, devices, estimate(pod, affinity, devices));
        }

        private Waiting unread(String why) {
            return of(pod.unread(why), since, NodeAffinity.NONE, List.of());
        }
    }

    WaitingPods(PodParser reading) {
        this.reading = reading;
    }

    @Override
    public Optional<Waiting> of(ObjectParts found, Optional<Waiting> before) {
        before.ifPresent(this::gone);
        Optional<Waiting> waiting = reading.gated(found.kept())
                .map(pod -> fitting(whole(pod, found.kept()), found.whole()))
                .filter(this::hasRoom);
        waiting.ifPresent(kept -> bytes.take(kept.pod().namespace(), kept.bytes()));
        return waiting;
    }

    @Override
    public void gone(Waiting before) {
        bytes.take(before.pod().namespace(), -before.bytes());
    }

    @Override
    public boolean isToBeListed() {
        boolean isRoom = isIncomplete && bytes() <= MOST - ROOM;
        isIncomplete = isIncomplete && !isRoom;
        return isRoom;
    }

    /// Returns the estimated bytes of all kept pods.
    long bytes() {
        return bytes.total();
    }

    private static Waiting whole(GatedPod pod, JsonObject object) {
        return Waiting.of(pod, PodParser.neverHeldSince(object), NodeAffinity.of(object), PodResourceClaim.of(object));
    }

    private Waiting fitting(Waiting whole, boolean isRead) {
        if (!isRead || whole.bytes() > (bytes() < MUCH ? MOST_OF_ONE : USUAL)) {
            return whole.unread(LARGE);
        }
        return bytes.fits(whole.pod().namespace(), whole.bytes()) ? whole : whole.unread(MANY);
    }

    private boolean hasRoom(Waiting waiting) {
        if (bytes() + waiting.bytes() <= MOST) {
            return true;
        }
        if (!isIncomplete) {
            LOG.warn("the pods at the gate need more than {} MiB: some wait until others are gone", MOST >> 20);
        }
        isIncomplete = true;
        return false;
    }

    /// Returns about how many bytes a pod takes.
    static long estimate(GatedPod pod, NodeAffinity affinity, List<PodResourceClaim> devices) {
        NodeRules rules = pod.rules();
        return Stream.of(
                                Stream.of(
                                        pod.namespace(),
                                        pod.name(),
                                        pod.uid(),
                                        pod.version(),
                                        pod.group(),
                                        affinity.preferred(),
                                        affinity.terms()),
                                pod.needs().amounts().keySet().stream(),
                                pod.uses().stream().map(String::valueOf),
                                rules.selector().entrySet().stream()
                                        .flatMap(each -> Stream.of(each.getKey(), each.getValue())),
                                rules.tolerations().stream()
                                        .flatMap(each -> Stream.of(each.key(), each.value(), each.effect())),
                                rules.required().stream().flatMap(List::stream).flatMap(WaitingPods::texts),
                                devices.stream().flatMap(each -> Stream.of(each.path(), each.namespace())))
                        .flatMap(texts -> texts)
                        .mapToLong(text -> OF_A_TEXT + 2L * text.length())
                        .sum()
                + OF_A_POD;
    }

    /// Returns the texts of a term, and one for the term itself.
    private static Stream<String> texts(NodeRules.Term term) {
        Stream<String> all = Stream.concat(term.labels().stream(), term.fields().stream())
                .flatMap(each -> Stream.concat(Stream.of(each.key(), each.operator()), each.values().stream()));
        return Stream.concat(Stream.of(""), all);
    }
}
