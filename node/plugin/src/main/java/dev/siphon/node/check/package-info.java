/// The checks of `siphon check node`: kernel, clients, kubelet, and this process's privileges and state directory.
/// They change nothing.
@NullMarked
package dev.siphon.node.check;

import org.jspecify.annotations.NullMarked;
