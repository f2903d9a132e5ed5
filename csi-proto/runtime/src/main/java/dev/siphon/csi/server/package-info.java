/// The server of both processes: gRPC on a unix socket with its interceptors, readiness, HTTP for operators, JSON
/// logging, and an orderly start and stop.
///
/// Services are plain blocking methods that return a response or throw a [dev.siphon.csi.DriverException].
/// [dev.siphon.csi.server.UnaryCall] adapts them to gRPC. The interceptors turn exceptions into a status, a log
/// line and a metric.
@NullMarked
package dev.siphon.csi.server;

import org.jspecify.annotations.NullMarked;
