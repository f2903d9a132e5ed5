/// The contract that controller and node share: ids, volume contexts, errors and their gRPC status.
@NullMarked
package dev.siphon.csi;

import org.jspecify.annotations.NullMarked;
