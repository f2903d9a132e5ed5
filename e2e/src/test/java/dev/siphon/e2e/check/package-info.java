/// The findings and remedies of `siphon check`, on a healthy system and on really broken ones.
@NullMarked
package dev.siphon.e2e.check;

import org.jspecify.annotations.NullMarked;
