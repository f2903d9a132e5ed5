/// The shell that both processes run in: a gRPC server on a unix socket with its interceptors, readiness, the
/// HTTP server for operators, JSON logging, and an orderly start and stop.
///
/// Services are written as plain blocking methods that return a response or throw a
/// [dev.siphon.csi.DriverException]; [dev.siphon.csi.server.Unary] carries them over to gRPC, and the
/// interceptors turn what they throw into a status, a log line and a metric.
@NullMarked
package dev.siphon.csi.server;

import org.jspecify.annotations.NullMarked;
