package dev.siphon.e2e.kubernetes;

import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;

/// Prints the cluster's state when a test or its preparation fails.
final class ShowsCluster implements AfterTestExecutionCallback, LifecycleMethodExecutionExceptionHandler {
    @Override
    public void afterTestExecution(ExtensionContext context) {
        context.getExecutionException().ifPresent(_ -> show(context));
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        show(context);
        throw failure;
    }

    @Override
    public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        show(context);
        throw failure;
    }

    private static void show(ExtensionContext context) {
        System.err.println(context.getDisplayName() + " failed on this cluster:\n"
                + Cluster.here().describe());
    }
}
