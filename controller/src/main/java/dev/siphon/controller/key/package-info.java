/// cephx identities: one per volume, that opens this volume and nothing else.
@NullMarked
package dev.siphon.controller.key;

import org.jspecify.annotations.NullMarked;
