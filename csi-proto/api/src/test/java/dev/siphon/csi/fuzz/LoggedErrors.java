package dev.siphon.csi.fuzz;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/// Records what Siphon logs as an error, and threads that end with an exception, until closed. It ignores
/// libraries: gRPC's server logs an error when it closes during a reply.
public final class LoggedErrors implements AutoCloseable {
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            boolean own = event.getLoggerName().startsWith("dev.siphon.");
            if (own && event.getLevel().isGreaterOrEqual(Level.ERROR)) {
                errors.add(event.getFormattedMessage()
                        + (event.getThrowableProxy() == null
                                ? ""
                                : ThrowableProxyUtil.asString(event.getThrowableProxy())));
            }
        }
    };

    public LoggedErrors() {
        appender.start();
        root.addAppender(appender);
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> errors.add(thread.getName() + ": " + thrown));
    }

    public List<String> lines() {
        return List.copyOf(errors);
    }

    @Override
    public void close() {
        root.detachAppender(appender);
        Thread.setDefaultUncaughtExceptionHandler(before);
    }
}
