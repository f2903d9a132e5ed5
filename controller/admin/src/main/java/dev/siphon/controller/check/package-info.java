/// The checks of `siphon check controller`: clusters, the directory, Kubernetes. Changes nothing.
@NullMarked
package dev.siphon.controller.check;

import org.jspecify.annotations.NullMarked;
