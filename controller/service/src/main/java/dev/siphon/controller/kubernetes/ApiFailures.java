package dev.siphon.controller.kubernetes;

import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;

/// Translates failed requests to the API server into errors of the driver. Messages quote no object: it may be a
/// Secret.
final class ApiFailures {
    /// The packages of Java's exceptions about connections.
    private static final List<String> OF_CONNECTIONS =
            List.of("java.net.", "java.nio.", "javax.net.", "java.security.");

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private ApiFailures() {}

    /// Returns the driver's error for a failed request.
    ///
    /// @param doing the operation, for messages
    static DriverException meaning(String doing, Throwable cause) {
        return switch (cause) {
            case DriverException known -> known;
            case KubernetesClientException answer -> answered(doing, answer);
            // its message may quote what was read, its name cannot
            default ->
                new DriverException.BackendFault(
                        doing + " in Kubernetes broke off: " + cause.getClass().getName());
        };
    }

    private static DriverException answered(String doing, KubernetesClientException answer) {
        int code = answer.getCode();
        if (code <= 0) {
            return new DriverException.BackendUnavailable(
                    "the API server of Kubernetes cannot be reached (" + doing + "): " + trouble(answer) + "; retry");
        }
        String what = doing + " was answered with " + code + " by the API server of Kubernetes";
        if (code == HttpURLConnection.HTTP_UNAUTHORIZED) {
            return new DriverException.AccessDenied(what + ": it does not know the driver's service account or user");
        }
        if (code == HttpURLConnection.HTTP_FORBIDDEN) {
            return new DriverException.AccessDenied(what + ": " + said(answer)
                    + "; the rules that the driver needs are in docs/reference/objects.md, \"In Kubernetes\"");
        }
        if (code == HttpURLConnection.HTTP_NOT_FOUND) {
            return new DriverException.BackendUnavailable(what + ": " + said(answer) + "; retry when it is there");
        }
        if (code == HttpURLConnection.HTTP_GONE || code == TOO_MANY_REQUESTS || code >= SERVER_ERROR) {
            return new DriverException.BackendUnavailable(what + "; retry");
        }
        return new DriverException.BackendFault(what + ", which Siphon does not expect");
    }

    /// Returns the server's message; used only for codes whose message names an object and a rule but quotes no
    /// content.
    private static String said(KubernetesClientException answer) {
        return Optional.ofNullable(answer.getStatus()).map(Status::getMessage).orElse("no reason given");
    }

    /// Returns the message of the first cause about network or TLS. Messages about the reply itself might quote it.
    private static String trouble(Throwable answer) {
        String name = "";
        for (Throwable cause = answer; cause != null; cause = cause.getCause()) {
            name = cause.getClass().getName();
            if (OF_CONNECTIONS.stream().anyMatch(name::startsWith)) {
                return Optional.ofNullable(cause.getMessage()).orElse(name);
            }
        }
        return "no valid answer came (" + name + ")";
    }
}
