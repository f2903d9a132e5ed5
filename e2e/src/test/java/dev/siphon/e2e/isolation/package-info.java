/// Who reaches what with which key, and how a key is taken away again.
@NullMarked
package dev.siphon.e2e.isolation;

import org.jspecify.annotations.NullMarked;
