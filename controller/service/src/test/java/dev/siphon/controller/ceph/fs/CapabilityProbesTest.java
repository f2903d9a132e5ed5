package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.volume.SubvolumeGroup;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class CapabilityProbesTest {
    private final CapabilityProbes probes = new CapabilityProbes(
            _ -> {
                throw new LinkageError("libcephfs");
            },
            () -> Duration.ofSeconds(20),
            new CephMetrics(new PrometheusRegistry()));

    /// An account whose mark cannot be read must not count as not frozen.
    @Test
    void anErrorWhileReadingAnAttributeIsNotAnAbsentAttribute() {
        SubvolumeGroup group = new SubvolumeGroup("lab", "fs", "g");
        assertThrows(IllegalStateException.class, () -> probes.attribute(group, group.path(), "user.note"));
    }

    @Test
    void aChangeDoesNotRunAfterAnErrorOfItsProbe() {
        SubvolumeGroup group = new SubvolumeGroup("lab", "fs", "g");
        assertThrows(
                IllegalStateException.class,
                () -> probes.change(group, () -> {
                    throw new AssertionError("ran");
                }));
    }
}
