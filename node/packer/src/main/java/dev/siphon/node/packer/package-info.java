/// The commands `siphon dataset`: they pack, import and seal datasets, and read an image back.
@NullMarked
package dev.siphon.node.packer;

import org.jspecify.annotations.NullMarked;
