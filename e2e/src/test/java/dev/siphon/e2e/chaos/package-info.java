/// Many concurrent callers, and daemons of Ceph that fail under their load.
@NullMarked
package dev.siphon.e2e.chaos;

import org.jspecify.annotations.NullMarked;
