/// Which key opens what, and how a key is revoked.
@NullMarked
package dev.siphon.e2e.isolation;

import org.jspecify.annotations.NullMarked;
