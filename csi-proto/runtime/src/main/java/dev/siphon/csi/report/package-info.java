/// Output of commands, for people and for scripts.
@NullMarked
package dev.siphon.csi.report;

import org.jspecify.annotations.NullMarked;
