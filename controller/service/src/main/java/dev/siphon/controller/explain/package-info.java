/// Explains to people what belongs together, from a path or code to an account, and what a pod waits for.
@NullMarked
package dev.siphon.controller.explain;

import org.jspecify.annotations.NullMarked;
