/// Kubernetes: keys as Secrets, grants as a ConfigMap, and what is written at namespaces and PVCs. The only
/// package that sees the client of its API, so that a controller without Kubernetes loads none of it.
@NullMarked
package dev.siphon.controller.kubernetes;

import org.jspecify.annotations.NullMarked;
