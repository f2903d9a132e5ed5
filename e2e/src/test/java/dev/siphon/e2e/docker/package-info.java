/// Accounts' homes without Kubernetes: in containers of a plain Docker engine through the example script of
/// `deploy/examples/docker`, and on a login host.
@NullMarked
package dev.siphon.e2e.docker;

import org.jspecify.annotations.NullMarked;
