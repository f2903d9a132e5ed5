/// Tests of what becomes of an account whose person leaves.
@NullMarked
package dev.siphon.controller.offboard;

import org.jspecify.annotations.NullMarked;
