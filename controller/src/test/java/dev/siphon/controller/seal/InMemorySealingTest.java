package dev.siphon.controller.seal;

import java.util.Optional;

final class InMemorySealingTest extends SealingClusterContract {
    private final InMemorySealing sealing = new InMemorySealing();

    @Override
    protected SealingCluster cluster() {
        return sealing;
    }

    @Override
    protected void ends(String name, Optional<String> lastWords) {
        sealing.packers.put(name, lastWords.<Packing>map(Packing.Failed::new).orElseGet(Packing.Ended::new));
    }
}
