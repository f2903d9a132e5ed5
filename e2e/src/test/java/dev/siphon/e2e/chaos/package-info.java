/// Many callers at once.
@NullMarked
package dev.siphon.e2e.chaos;

import org.jspecify.annotations.NullMarked;
