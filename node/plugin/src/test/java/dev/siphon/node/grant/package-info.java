@NullMarked
package dev.siphon.node.grant;

import org.jspecify.annotations.NullMarked;
