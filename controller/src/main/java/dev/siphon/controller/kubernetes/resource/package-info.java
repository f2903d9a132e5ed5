/// The custom resources of group `siphon.dev` as Java types. The chart's definitions of them are generated from these
/// (`make definitions`).
@NullMarked
package dev.siphon.controller.kubernetes.resource;

import org.jspecify.annotations.NullMarked;
