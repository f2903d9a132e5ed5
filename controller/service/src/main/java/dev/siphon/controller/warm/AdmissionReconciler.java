package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.AdmissionQueue.Queued;
import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Says where Kueue's Workloads want datasets, answers their admission checks, and takes their quota until they are
/// there. [CheckDecision] decides about each.
///
/// An order stays wanted only while a round says so. So the orders of a Workload that was evicted, deleted or admitted
/// are withdrawn without anybody having to notice that. Used by one thread.
final class AdmissionReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(AdmissionReconciler.class);

    /// The shortest time between two texts of one check in the same state.
    private static final Duration PAUSE = Duration.ofSeconds(5);

    /// How long a Rejected answer may wait until the Workload's earlier wait is forgotten. It is bounded because
    /// whoever writes annotations could write that wait again and again, and hold quota meanwhile.
    private static final Duration FORGETTING = Duration.ofMinutes(1);

    /// How far the clocks of two controllers may differ.
    private static final Duration SKEW = Duration.ofMinutes(1);

    /// Who has had its quota for longest is released first.
    private static final Comparator<QueuedWorkload> OLDEST_FIRST =
            Comparator.comparing(QueuedWorkload::since).thenComparing(QueuedWorkload::uid);

    private static final DataCheck.Active ACTIVE = new DataCheck.Active(true, "The admission check is active");

    private final AdmissionQueue queue;
    private final GateSettings settings;
    private final GatedDatasets datasets;
    private final FillTimes times = new FillTimes();
    private final PerObjectRetries attempts = new PerObjectRetries();

    /// What was known of each check of each Workload in the last round.
    private Map<CheckOfWorkload, Course> courses = Map.of();

    private record CheckOfWorkload(String uid, String check) {}

    /// @param begin when the data began to load. An object records it only once it gave its quota back: Kueue resets a
    ///     check at each eviction. Otherwise the next leader counts from the Workload's last change of phase.
    /// @param isOver whether it begins anew with the next quota, unless the object says otherwise: the Workload has
    ///     none, and this driver took it, or the longest wait ended meanwhile
    /// @param told when the check was written last
    /// @param rejecting when it was to be Rejected for the first time; [Instant#MAX] before
    private record Course(Instant begin, boolean isOver, Instant told, Instant rejecting) {
        static Course from(Instant begin) {
            return new Course(begin, false, Instant.EPOCH, Instant.MAX);
        }

        Course rejectedFrom(Instant now) {
            return new Course(begin, isOver, told, rejecting.isBefore(now) ? rejecting : now);
        }
    }

    private record Answered(DataCheck check, CheckState state, Course course, CheckAnswer answer) {
        CheckOfWorkload of(QueuedWorkload workload) {
            return new CheckOfWorkload(workload.uid(), check.name());
        }

        boolean isRelease() {
            return answer instanceof CheckAnswer.Released;
        }

        boolean isRejection() {
            return answer instanceof CheckAnswer.Given(var to, var _)
                    && to == State.REJECTED
                    && state.state() != State.REJECTED;
        }
    }

    /// What is to be written, and the first failed request, if any.
    record Round(List<PerObjectRetries.Step> steps, Optional<DriverException.BackendUnavailable> silent) {}

    AdmissionReconciler(AdmissionQueue queue, WarmupCluster cluster, GateSettings settings) {
        this.queue = queue;
        this.settings = settings;
        this.datasets = new GatedDatasets(cluster);
    }

    /// Decides about all checks. Writes nothing.
    ///
    /// @param wanted receives the datasets and nodes that the Workloads want
    Round decide(ObservedGates is, Set<DatasetOnNode> wanted) {
        Queued queued;
        try {
            queued = queue.queued();
        } catch (DriverException.BackendUnavailable silent) {
            keep(is, wanted);
            return new Round(List.of(), Optional.of(silent));
        }
        times.seen(is.current(), is.now());
        GatedDatasets.GatedReads found = datasets.all(
                queued.workloads().stream()
                        .flatMap(workload -> workload.podSets().stream().map(QueuedWorkload.PodSet::pod))
                        .toList(),
                is.declared());
        LoadingPlanner planner = new LoadingPlanner(is, settings, times, queued.flavors(), found.reads());
        List<PerObjectRetries.Step> steps = new ArrayList<>();
        Map<CheckOfWorkload, Course> now = new HashMap<>();
        queued.checks().forEach(check -> activate(check, steps));
        ReleasedWorkloads released = new ReleasedWorkloads(queued.workloads());
        for (QueuedWorkload workload :
                queued.workloads().stream().sorted(OLDEST_FIRST).toList()) {
            boolean mayRelease = workload.isReleasable() && released.isRoomFor(workload);
            List<Answered> answers = new ArrayList<>();
            for (DataCheck check : queued.checks()) {
                workload.check(check.name()).ifPresent(state -> {
                    Course course = course(workload, check, is.now());
                    LoadingPlanner.Plan plan = planner.plan(workload, settings(check));
                    CheckDecision.Verdict verdict =
                            CheckDecision.decide(observed(is.now(), workload, mayRelease, check, state, course, plan));
                    if (verdict.isWanted()) {
                        plan.wanted().ifPresentOrElse(wanted::addAll, () -> keep(is, wanted));
                    }
                    answers.add(new Answered(check, state, course, verdict.answer()));
                });
            }
            if (isForgottenFirst(is.now(), workload, answers)) {
                answers.forEach(each -> now.put(each.of(workload), each.course().rejectedFrom(is.now())));
                steps.add(quota(workload, () -> queue.resume(workload, false)));
                continue;
            }
            List<PerObjectRetries.Step> answering = new ArrayList<>();
            answers.forEach(each -> now.put(each.of(workload), answer(is.now(), workload, each, answering)));
            Optional<PerObjectRetries.Step> quota = quota(workload, answers);
            if (quota.isPresent() && answers.stream().anyMatch(Answered::isRelease)) {
                released.add(workload);
            }
            steps.addAll(answering);
            quota.ifPresent(steps::add);
        }
        courses = now;
        return new Round(steps, found.silent());
    }

    /// Writes what [#decide] returned. A failure for one object does not block the others.
    Optional<DriverException.BackendUnavailable> write(Round round) {
        Optional<DriverException.BackendUnavailable> failed = attempts.take(round.steps());
        return round.silent().or(() -> failed);
    }

    /// Keeps all that was wanted before, while it is not known who wants it.
    private static void keep(ObservedGates is, Set<DatasetOnNode> wanted) {
        is.replicas().stream()
                .filter(replica -> replica.order().wanted())
                .map(OrderedReplica::place)
                .forEach(wanted::add);
    }

    private static Settings settings(DataCheck check) {
        return check.parameters() instanceof Parameters.Valid(var given) ? given : Settings.DEFAULT;
    }

    private Duration maxWait(DataCheck check) {
        return settings(check)
                .maxWait()
                .map(wish -> Collections.min(List.of(wish, GateSettings.LONGEST)))
                .orElse(settings.patience());
    }

    private Course course(QueuedWorkload workload, DataCheck check, Instant now) {
        boolean isReserved = workload.phase() == Phase.RESERVED;
        Course course = Optional.ofNullable(courses.get(new CheckOfWorkload(workload.uid(), check.name())))
                .filter(before -> !isReserved || !before.isOver())
                .orElse(Course.from(workload.since()));
        // whoever may change annotations cannot make a wait endless
        Instant begin = workload.release()
                .map(release -> release.waitingSince().orElse(course.begin()))
                .map(since -> since.isAfter(now.plus(SKEW)) ? Instant.EPOCH : since)
                .orElse(course.begin());
        boolean isOver = switch (workload.phase()) {
            case RESERVED, LEAVING -> false;
            case SENT_BACK -> begin.plus(maxWait(check)).isBefore(now);
            case RELEASED, REACTIVATED -> true;
        };
        return new Course(begin, isOver, course.told(), course.rejecting());
    }

    private ObservedCheck observed(
            Instant now,
            QueuedWorkload workload,
            boolean mayRelease,
            DataCheck check,
            CheckState state,
            Course course,
            LoadingPlanner.Plan plan) {
        return new ObservedCheck(
                workload.phase(),
                workload.release().isPresent(),
                mayRelease,
                state.state(),
                check.parameters(),
                plan.reads(),
                Duration.between(workload.since(), now),
                Duration.between(course.begin(), now),
                maxWait(check),
                plan.loading());
    }

    private void activate(DataCheck check, List<PerObjectRetries.Step> steps) {
        DataCheck.Active active =
                check.parameters() instanceof Parameters.Invalid(var why) ? new DataCheck.Active(false, why) : ACTIVE;
        if (!check.active().equals(Optional.of(active))) {
            steps.add(new PerObjectRetries.Step(
                    check.name(),
                    check,
                    () -> queue.activate(check, active),
                    refused -> LOG.warn(
                            "the status of AdmissionCheck {} is not written: {}", check.name(), refused.getMessage())));
        }
    }

    /// Whether an earlier wait is to be forgotten before a check is Rejected, which deactivates the Workload: whoever
    /// activates it gives it a new wait. Its course in memory still says that this one is over.
    private static boolean isForgottenFirst(Instant now, QueuedWorkload workload, List<Answered> answers) {
        return workload.phase() == Phase.RESERVED
                && workload.release().flatMap(Release::waitingSince).isPresent()
                && answers.stream()
                        .anyMatch(each -> each.isRejection()
                                && now.minus(FORGETTING).isBefore(each.course().rejecting()));
    }

    /// Adds at most one text of each Workload: the others would be refused, as it has changed then.
    private Course answer(Instant now, QueuedWorkload workload, Answered answered, List<PerObjectRetries.Step> steps) {
        String check = answered.check().name();
        Course course = answered.course();
        boolean isListed = workload.checks().containsKey(check);
        if (!(answered.answer() instanceof CheckAnswer.Given given) || !isListed) {
            return course;
        }
        boolean isNew = given.state() != answered.state().state();
        boolean isOtherText = steps.isEmpty()
                && !given.message().equals(answered.state().message())
                && course.told().plus(PAUSE).isBefore(now);
        if (!isNew && !isOtherText) {
            return course;
        }
        String title = workload.namespace() + "/" + workload.name();
        steps.add(new PerObjectRetries.Step(
                workload.uid() + "/" + check,
                workload.version(),
                () -> queue.answer(workload, check, given),
                refused ->
                        LOG.warn("check {} of Workload {} is not answered: {}", check, title, refused.getMessage())));
        return new Course(course.begin(), course.isOver(), now, course.rejecting());
    }

    /// Takes the quota from a Workload, or gives it back to its queue. Kueue deactivates or retries one by itself if
    /// another driver's check says so. With several checks of this driver, the last data that is awaited counts.
    private Optional<PerObjectRetries.Step> quota(QueuedWorkload workload, List<Answered> answers) {
        Optional<Instant> released = answers.stream()
                .filter(Answered::isRelease)
                .map(each -> each.course().begin())
                .min(Instant::compareTo);
        if (released.isPresent()) {
            Set<String> checks =
                    answers.stream().map(each -> each.check().name()).collect(Collectors.toSet());
            return workload.checks().values().stream()
                            .allMatch(check -> check.state() == State.PENDING || check.state() == State.READY)
                    ? Optional.of(quota(workload, () -> queue.release(workload, released.orElseThrow(), checks)))
                    : Optional.empty();
        }
        boolean isReleased = workload.phase() == Phase.RELEASED || workload.phase() == Phase.REACTIVATED;
        boolean isResumed = answers.stream().allMatch(each -> each.answer() instanceof CheckAnswer.Resumed);
        boolean isLate = answers.stream()
                .anyMatch(each -> each.answer() instanceof CheckAnswer.Resumed(var isLongest) && isLongest);
        return isReleased && isResumed
                ? Optional.of(quota(workload, () -> queue.resume(workload, isLate)))
                : Optional.empty();
    }

    private static PerObjectRetries.Step quota(QueuedWorkload workload, Runnable act) {
        return new PerObjectRetries.Step(
                "quota of " + workload.uid(),
                workload.version(),
                act,
                refused -> LOG.warn(
                        "Workload {}/{} is neither deactivated nor activated: {}",
                        workload.namespace(),
                        workload.name(),
                        refused.getMessage()));
    }
}
