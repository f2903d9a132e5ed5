/// Tests of quota reconciliation.
@NullMarked
package dev.siphon.controller.allowance;

import org.jspecify.annotations.NullMarked;
