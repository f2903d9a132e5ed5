/// Handles what remains of an account when its person leaves: freezes it, hands it over, or exports it; never
/// deletes.
@NullMarked
package dev.siphon.controller.offboard;

import org.jspecify.annotations.NullMarked;
