/// Decides which pods may use which volumes on this node.
@NullMarked
package dev.siphon.node.grant;

import org.jspecify.annotations.NullMarked;
