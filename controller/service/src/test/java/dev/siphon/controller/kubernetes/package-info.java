/// Tests of the Kubernetes adapter: each contract over an API server in memory, and over a real one.
@NullMarked
package dev.siphon.controller.kubernetes;

import org.jspecify.annotations.NullMarked;
