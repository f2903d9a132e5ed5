/// Follows the monitors of clusters where somebody else moves them, as Rook does, and publishes them for nodes.
@NullMarked
package dev.siphon.controller.monitor;

import org.jspecify.annotations.NullMarked;
