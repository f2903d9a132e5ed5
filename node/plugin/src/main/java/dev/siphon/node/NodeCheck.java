package dev.siphon.node;

import dev.siphon.csi.server.Readiness;
import dev.siphon.node.ceph.MounterSelection;
import dev.siphon.node.registration.Registration;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Checks whether this node can mount, and whether the kubelet has registered it.
///
/// @param registration checked here; empty if another program registers the driver
record NodeCheck(Optional<Registration> registration, NodeGrants grants) implements Readiness.Check {
    @Override
    public Optional<String> problem() {
        String all = Stream.of(MounterSelection.obstacle(), registration.flatMap(Registration::check))
                .flatMap(Optional::stream)
                .collect(Collectors.joining("; "));
        return Optional.of(all).filter(found -> !found.isEmpty());
    }

    @Override
    public Optional<String> remark() {
        return grants.remark();
    }
}
