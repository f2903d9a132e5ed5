/// Trees of files, written from archives, buckets and folders that nobody has checked. What would leave the tree, or
/// would be more than a file, is refused before anything is written.
@NullMarked
package dev.siphon.node.unpack;

import org.jspecify.annotations.NullMarked;
