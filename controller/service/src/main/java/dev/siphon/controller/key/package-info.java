/// Manages cephx identities: each volume has one, and it opens only that volume.
@NullMarked
package dev.siphon.controller.key;

import org.jspecify.annotations.NullMarked;
