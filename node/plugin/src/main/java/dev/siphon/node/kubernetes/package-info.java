/// What a node reads from the Kubernetes API, and the events that it adds; nothing else knows that API. Used only by a
/// node that is told to.
@NullMarked
package dev.siphon.node.kubernetes;

import org.jspecify.annotations.NullMarked;
