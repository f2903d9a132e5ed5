/// Fake GPUs for the Kubernetes lab.
@NullMarked
package dev.siphon.e2e.gpu;

import org.jspecify.annotations.NullMarked;
