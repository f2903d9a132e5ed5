/// Tests of the keys of volumes.
@NullMarked
package dev.siphon.controller.key;

import org.jspecify.annotations.NullMarked;
