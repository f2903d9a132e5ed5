package dev.siphon.node.warm;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.node.warm.ObservedOrder.Copy;
import dev.siphon.node.warm.ObservedOrder.Wanted;
import dev.siphon.node.warm.ObservedOrder.Work;
import java.time.Duration;
import java.util.Optional;

/// Decides the next step for an order of the controller. Touches nothing, so its test tries every combination.
final class OrderDecision {
    /// The deadline for the controller's answer.
    static final Duration ANSWER = Duration.ofSeconds(30);

    private OrderDecision() {}

    static OrderStep decide(ObservedOrder is) {
        return switch (is.wanted()) {
            case Wanted.Unattended _ -> new OrderStep.End();
            case Wanted.Withdrawn _ -> released(is, new OrderStep.End());
            case Wanted.Ordered(Order order) ->
                order.wanted()
                        ? warm(is, order)
                        : released(is, new OrderStep.Tell(is.copy().report()));
        };
    }

    private static OrderStep released(ObservedOrder is, OrderStep then) {
        return is.work() instanceof Work.None ? then : new OrderStep.Release();
    }

    /// The order's volume may change without a deletion event, because the watch was broken. So what was done for the
    /// previous volume is released first, even if the new one is refused.
    private static OrderStep warm(ObservedOrder is, Order order) {
        if (!is.hasCache()) {
            return new OrderStep.Fail(
                    new DriverException.InUse("it has no cache directory; set node.cacheDirectories in the chart"));
        }
        if (is.work().isOfOther(order.volume())) {
            return new OrderStep.Release();
        }
        return switch (is.copy()) {
            case Copy.Whole(var report, var digest) ->
                is.work() instanceof Work.Verified
                        ? new OrderStep.Tell(report)
                        : new OrderStep.Fill(order.volume(), digest);
            case Copy.Incomplete _ ->
                switch (is.work()) {
                    case Work.None _ -> new OrderStep.Ask(order.volume());
                    case Work.Asked asked -> answered(asked, order, is.now());
                    case Work.Mounted(var volume, var digest) -> new OrderStep.Fill(volume, digest);
                    case Work.Kept _, Work.Verified _ -> new OrderStep.Release(); // the replica is gone
                };
        };
    }

    private static OrderStep answered(Work.Asked asked, Order order, long now) {
        Optional<DatasetAccess.Answer> answer = order.access()
                .filter(each -> each.request().equals(asked.question().request()));
        if (answer.isEmpty()) {
            return asked.end() - now > 0
                    ? new OrderStep.Wait(Duration.ofNanos(asked.end() - now))
                    : new OrderStep.Fail(new DriverException.BackendUnavailable(
                            "the controller has not given the dataset's key within " + ANSWER.toSeconds()
                                    + " s: check siphon-controller"));
        }
        return switch (answer.get()) {
            case DatasetAccess.Refused refused -> new OrderStep.Fail(refused.why());
            case DatasetAccess.Given given ->
                given.volume().equals(order.volume())
                        ? new OrderStep.Open(asked, given)
                        : new OrderStep.Fail(new DriverException.InUse("another dataset has that name by now"));
        };
    }
}
