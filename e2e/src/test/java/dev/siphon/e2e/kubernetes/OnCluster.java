package dev.siphon.e2e.kubernetes;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/// Tests on a Kubernetes with Siphon that run beside other such classes. After a failure they print the cluster's
/// state.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ShowsCluster.class)
@ResourceLock(value = OnCluster.SIPHON, mode = ResourceAccessMode.READ)
@Timeout(600)
@interface OnCluster {
    /// Classes that restart or replace what others use lock this for writing.
    String SIPHON = "siphon";
}
