package dev.siphon.node.warm;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.EncryptedSecret;
import dev.siphon.node.warm.ObservedOrder.Copy;
import dev.siphon.node.warm.ObservedOrder.Wanted;
import dev.siphon.node.warm.ObservedOrder.Work;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// One order on a node, in every situation. A step turns it into another one.
///
/// @param want what the controller wants, and its answer to the last question, if that was asked
/// @param disk what a disk of the node has of the volume
record OrderModel(Want want, boolean hasCache, Disk disk, Work work) {
    static final Digest DIGEST = new Digest("a".repeat(64));
    static final DatasetVolume VOLUME = volume(DIGEST);

    private static final Digest OTHER_DIGEST = new Digest("b".repeat(64));
    private static final DatasetVolume OTHER = volume(OTHER_DIGEST);
    private static final long NOW = 1_000_000_000_000L;
    private static final EncryptedSecret.Reader READER = new EncryptedSecret.Reader();
    private static final Question QUESTION = new Question("1", READER.publicKey());
    private static final DatasetReplica.State NOWHERE = DatasetReplica.State.ABSENT;

    enum Want {
        UNATTENDED,
        WITHDRAWN,
        UNWANTED,
        UNANSWERED,
        /// The answer is to another question.
        ANSWERED_EARLIER,
        REFUSED,
        GIVEN,
        /// The key is of another volume, which has the dataset's name by now.
        GIVEN_OTHER
    }

    enum Disk {
        NOTHING,
        PART,
        WHOLE
    }

    /// What may come of a step.
    ///
    /// @param isLast whether a pause or something from outside comes before the next step
    record Outcome(OrderModel next, boolean isSuccess, boolean isLast) {}

    private static DatasetVolume volume(Digest digest) {
        return new DatasetVolume("lab", "cephfs", digest.beginning(), Optional.empty(), "/datasets/x");
    }

    /// Returns all situations. Without a cache directory there is no work.
    static Stream<OrderModel> all() {
        Stream<OrderModel> without =
                Arrays.stream(Want.values()).map(want -> new OrderModel(want, false, Disk.NOTHING, new Work.None()));
        Stream<OrderModel> with = Arrays.stream(Want.values())
                .flatMap(want -> Arrays.stream(Disk.values())
                        .flatMap(disk -> works().map(work -> new OrderModel(want, true, disk, work))));
        return Stream.concat(without, with);
    }

    private static Stream<Work> works() {
        return Stream.concat(
                Stream.of(new Work.None()), Stream.concat(works(VOLUME, DIGEST), works(OTHER, OTHER_DIGEST)));
    }

    private static Stream<Work> works(DatasetVolume volume, Digest digest) {
        return Stream.of(
                asked(volume, NOW + 1),
                asked(volume, NOW),
                new Work.Mounted(volume, digest),
                new Work.Kept(volume, digest),
                new Work.Verified(volume, digest));
    }

    private static Work.Asked asked(DatasetVolume volume, long end) {
        return new Work.Asked(volume, QUESTION, READER, end);
    }

    Wanted wanted() {
        return switch (want) {
            case UNATTENDED -> new Wanted.Unattended();
            case WITHDRAWN -> new Wanted.Withdrawn();
            case UNWANTED, UNANSWERED -> ordered(Optional.empty());
            case ANSWERED_EARLIER ->
                ordered(Optional.of(new DatasetAccess.Refused("0", new DriverException.NotFound("not asked"))));
            case REFUSED ->
                ordered(Optional.of(
                        new DatasetAccess.Refused(QUESTION.request(), new DriverException.NotFound("no dataset"))));
            case GIVEN -> ordered(Optional.of(given(VOLUME)));
            case GIVEN_OTHER -> ordered(Optional.of(given(OTHER)));
        };
    }

    private Wanted ordered(Optional<DatasetAccess.Answer> answer) {
        return new Wanted.Ordered(new DatasetReplica.Order("u1.x", "node-1", VOLUME, want != Want.UNWANTED, answer));
    }

    private static DatasetAccess.Given given(DatasetVolume volume) {
        VolumeContext context = VolumeContext.fromMap(volume, Map.of("monitors", "10.0.0.1:3300"));
        return new DatasetAccess.Given(QUESTION.request(), volume, context, "siphon-dataset.x", "encrypted");
    }

    Copy copy() {
        return switch (disk) {
            case NOTHING -> new Copy.Incomplete(Report.of(NOWHERE));
            case PART -> new Copy.Incomplete(Report.filling(50, 50, "/cache"));
            case WHOLE -> new Copy.Whole(Report.local(100, "/cache"), DIGEST);
        };
    }

    ObservedOrder observed() {
        return new ObservedOrder(wanted(), hasCache, copy(), work, NOW);
    }

    boolean isReplicaWanted() {
        return wanted().isReplicaOf(VOLUME);
    }

    boolean isWhole() {
        return disk == Disk.WHOLE;
    }

    boolean isAwaited() {
        return work instanceof Work.Asked asked && asked.volume().equals(VOLUME) && !isOverdue();
    }

    boolean isOverdue() {
        return work instanceof Work.Asked asked && asked.end() <= NOW;
    }

    boolean isAnswered() {
        return work instanceof Work.Asked && (want == Want.REFUSED || want == Want.GIVEN || want == Want.GIVEN_OTHER);
    }

    /// Returns what follows when the controller gives the key.
    OrderModel answered() {
        return new OrderModel(Want.GIVEN, hasCache, disk, work);
    }

    private OrderModel with(Work now) {
        return new OrderModel(want, hasCache, disk, now);
    }

    /// Returns what may come of a step, first the success.
    List<Outcome> outcomes(OrderStep step) {
        return switch (step) {
            case OrderStep.End _, OrderStep.Tell _, OrderStep.Wait _ -> List.of(new Outcome(this, true, true));
            case OrderStep.Release _ -> List.of(new Outcome(with(new Work.None()), true, false));
            case OrderStep.Fail _ -> List.of(new Outcome(with(new Work.None()), true, true));
            case OrderStep.Ask(var volume) -> {
                Want unanswered = want == Want.UNANSWERED ? want : Want.ANSWERED_EARLIER;
                yield List.of(
                        new Outcome(new OrderModel(unanswered, hasCache, disk, asked(volume, NOW + 1)), true, false));
            }
            case OrderStep.Open(var asked, var _) ->
                List.of(
                        new Outcome(with(new Work.Mounted(asked.volume(), DIGEST)), true, false),
                        new Outcome(with(new Work.None()), false, true));
            case OrderStep.Fill(var volume, var digest) -> {
                Work.Held held = work instanceof Work.Mounted mounted ? mounted : new Work.Kept(volume, digest);
                yield List.of(
                        new Outcome(new OrderModel(want, hasCache, Disk.WHOLE, held.filled(true)), true, false),
                        new Outcome(with(held.filled(false)), false, true), // it failed, or the order changed
                        new Outcome(with(new Work.Kept(volume, digest)), false, true)); // the image is out of reach
            }
        };
    }
}
