/// What `siphon check node` looks at: kernel, clients, kubelet, this process's own rights and directory. Changes
/// nothing.
@NullMarked
package dev.siphon.node.check;

import org.jspecify.annotations.NullMarked;
