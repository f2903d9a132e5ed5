/// What `siphon check controller` looks at, and what it makes of the answers: clusters, the directory, Kubernetes.
/// Changes
/// nothing.
@NullMarked
package dev.siphon.controller.check;

import org.jspecify.annotations.NullMarked;
