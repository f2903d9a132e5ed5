/// The chunks of an image: read past the page cache, and compared with the manifest. Threads that hang in the kernel
/// are abandoned.
@NullMarked
package dev.siphon.node.chunk;

import org.jspecify.annotations.NullMarked;
