package dev.siphon.e2e.kubernetes;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/// Tests on a Kubernetes with Siphon, beside other classes of this kind. A failed one says what there is to see in the
/// cluster.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ShowsCluster.class)
@ResourceLock(value = OnCluster.SIPHON, mode = ResourceAccessMode.READ)
@Timeout(600)
@interface OnCluster {
    /// Whoever restarts or replaces what others use locks this to write.
    String SIPHON = "siphon";
}
