/// Accounts and their allowances, on a real Ceph.
@NullMarked
package dev.siphon.e2e.allowance;

import org.jspecify.annotations.NullMarked;
