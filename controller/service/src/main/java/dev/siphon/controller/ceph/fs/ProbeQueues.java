package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The probes of each group, in the order of arrival. The first one runs.
final class ProbeQueues {
    private final Map<SubvolumeGroup, Deque<CapabilityProbe>> ofGroups = new HashMap<>();

    /// @param done the probes that have their reply now, to be ended
    /// @param next the probe to run now; empty if the group has no other
    record Finished(List<CapabilityProbe> done, Optional<CapabilityProbe> next) {}

    /// Adds a probe.
    ///
    /// @return whether it is the group's only one, so that its caller must start a thread for them
    synchronized boolean add(SubvolumeGroup group, CapabilityProbe probe) {
        Deque<CapabilityProbe> queue = ofGroups.computeIfAbsent(group, _ -> new ArrayDeque<>());
        queue.add(probe);
        return queue.size() == 1;
    }

    /// Returns the probe that runs.
    synchronized Optional<CapabilityProbe> running(SubvolumeGroup group) {
        return Optional.ofNullable(ofGroups.get(group)).map(Deque::element);
    }

    /// Removes the probe that has run. If it succeeded, also those that need no other reply than its own. A failure is
    /// not shared: it may be about another caller's volume, or a stronger probe than this caller's.
    synchronized Finished finish(SubvolumeGroup group, CapabilityProbe probe, boolean succeeded) {
        Deque<CapabilityProbe> queue = ofGroups.getOrDefault(group, new ArrayDeque<>());
        List<CapabilityProbe> done = new ArrayList<>();
        queue.removeIf(each -> {
            boolean isDone = each == probe || (succeeded && probe.answers(each));
            return isDone && done.add(each);
        });
        if (queue.isEmpty()) {
            ofGroups.remove(group);
        }
        return new Finished(done, Optional.ofNullable(queue.peek()));
    }

    /// Removes a probe whose caller leaves, unless it runs.
    synchronized void withdraw(SubvolumeGroup group, CapabilityProbe probe) {
        Deque<CapabilityProbe> queue = ofGroups.getOrDefault(group, new ArrayDeque<>());
        if (queue.peek() != probe) {
            queue.remove(probe);
        }
    }

    /// Removes all probes of a group, none of which runs, and returns them.
    synchronized List<CapabilityProbe> clear(SubvolumeGroup group) {
        return List.copyOf(Optional.ofNullable(ofGroups.remove(group)).orElseGet(ArrayDeque::new));
    }
}
