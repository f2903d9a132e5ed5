/// Where the monitors of a cluster are when somebody else moves them, as Rook does: followed, and told to nodes.
@NullMarked
package dev.siphon.controller.monitor;

import org.jspecify.annotations.NullMarked;
