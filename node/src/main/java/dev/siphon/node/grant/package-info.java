/// Who may use which volume on this node.
@NullMarked
package dev.siphon.node.grant;

import org.jspecify.annotations.NullMarked;
