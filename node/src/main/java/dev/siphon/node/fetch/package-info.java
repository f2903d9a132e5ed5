/// Gets one file by HTTP that is known by its digest, whatever the server and the network do meanwhile: what
/// came is kept, asked for no second time where the server allows that, and never believed before its digest is
/// right.
@NullMarked
package dev.siphon.node.fetch;

import org.jspecify.annotations.NullMarked;
