/// Siphon on a real Kubernetes, as its users and administrators use it.
@NullMarked
package dev.siphon.e2e.kubernetes;

import org.jspecify.annotations.NullMarked;
