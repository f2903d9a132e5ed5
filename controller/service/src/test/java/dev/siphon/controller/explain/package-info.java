/// Tests of what is explained to people.
@NullMarked
package dev.siphon.controller.explain;

import org.jspecify.annotations.NullMarked;
