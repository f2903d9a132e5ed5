/// Alerts and the Grafana board on a real Prometheus, which scrapes a controller and a node on a real Ceph.
@NullMarked
package dev.siphon.e2e.monitoring;

import org.jspecify.annotations.NullMarked;
