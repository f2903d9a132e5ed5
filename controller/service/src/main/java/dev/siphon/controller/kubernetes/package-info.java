/// Kubernetes: keys as Secrets, grants as a ConfigMap, and annotations of namespaces and claims. Only this package
/// uses the client of its API, so a controller without Kubernetes loads none of it.
@NullMarked
package dev.siphon.controller.kubernetes;

import org.jspecify.annotations.NullMarked;
