/// The shared part of `siphon check` for controller and node: results of checks, their time limit, and their
/// output.
@NullMarked
package dev.siphon.csi.check;

import org.jspecify.annotations.NullMarked;
