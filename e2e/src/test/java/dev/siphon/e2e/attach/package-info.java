/// Attach mode: volumes that are attached to nodes.
@NullMarked
package dev.siphon.e2e.attach;

import org.jspecify.annotations.NullMarked;
