/// Downloads one file by HTTP with a known digest, despite failures of server and network. Keeps received data,
/// resumes if the server allows it, and trusts nothing before the digest matches.
@NullMarked
package dev.siphon.node.fetch;

import org.jspecify.annotations.NullMarked;
