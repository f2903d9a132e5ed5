/// Reads tars without unpacking them: finds each member, and where its bytes are. Names, links and values stay
/// bytes: as text they are ISO 8859-1, one character per byte.
///
/// Supports `ustar` and `pax` of POSIX (pax(1p)), and GNU tar's long names and all four sparse formats.
@NullMarked
package dev.siphon.node.tar;

import org.jspecify.annotations.NullMarked;
