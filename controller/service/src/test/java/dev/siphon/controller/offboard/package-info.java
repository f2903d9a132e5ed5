/// Tests of offboarding an account.
@NullMarked
package dev.siphon.controller.offboard;

import org.jspecify.annotations.NullMarked;
