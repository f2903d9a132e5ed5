/// The driver's image and a Ceph, each in containers of a Docker engine.
@NullMarked
package dev.siphon.e2e.containers;

import org.jspecify.annotations.NullMarked;
