/// Attach mode: volumes that belong to nodes.
@NullMarked
package dev.siphon.e2e.attach;

import org.jspecify.annotations.NullMarked;
