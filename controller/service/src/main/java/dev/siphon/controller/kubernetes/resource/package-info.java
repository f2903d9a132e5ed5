/// The custom resources of group `siphon.dev` as Java types. The chart's definitions are generated from them
/// (`make definitions`).
@NullMarked
package dev.siphon.controller.kubernetes.resource;

import org.jspecify.annotations.NullMarked;
