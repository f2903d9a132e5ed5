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
        sealing.packers.put(
                name,
                lastWords
                        .<PackerOutcome>map(why -> new PackerOutcome.Failed(why, false))
                        .orElseGet(PackerOutcome.Ended::new));
    }
}
