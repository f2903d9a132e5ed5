/// The allowance of an account, on a real Ceph.
@NullMarked
package dev.siphon.e2e.allowance;

import org.jspecify.annotations.NullMarked;
