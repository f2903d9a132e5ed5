/// Reads tars without unpacking them: what each member is, and where in the tar its bytes are. Names, links and
/// values stay the octets that they are: as text they are ISO 8859-1, one character for each.
///
/// Known are what POSIX says of `ustar` and `pax` (pax(1p)), and of GNU tar long names and all four ways to
/// write a sparse file.
@NullMarked
package dev.siphon.node.tar;

import org.jspecify.annotations.NullMarked;
