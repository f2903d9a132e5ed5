package dev.siphon.e2e.kubernetes;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/// Like [OnCluster], but exclusive: for classes that restart or replace what others use.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ShowsCluster.class)
@ResourceLock(value = OnCluster.SIPHON, mode = ResourceAccessMode.READ_WRITE)
@Timeout(600)
@interface AloneOnCluster {}
