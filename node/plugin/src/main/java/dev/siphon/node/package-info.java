/// The node process: configuration, composition and start.
@NullMarked
package dev.siphon.node;

import org.jspecify.annotations.NullMarked;
