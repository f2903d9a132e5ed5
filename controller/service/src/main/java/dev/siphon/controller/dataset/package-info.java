/// Sealed datasets that several accounts read: which exist, who may read them, and the volumes that show them.
@NullMarked
package dev.siphon.controller.dataset;

import org.jspecify.annotations.NullMarked;
