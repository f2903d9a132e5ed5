package dev.siphon.csi.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.logging.LogManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/// Logs JSON lines to stdout: Siphon at the level of a flag, its libraries (gRPC, netty) at WARN. Logback finds
/// this class by `ServiceLoader`, so it neither searches for nor parses a configuration file.
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class JsonLogging extends ContextAwareBase implements Configurator {
    private static final String OWN = "dev.siphon";

    @Override
    public ExecutionStatus configure(LoggerContext loggers) {
        JsonLineEncoder encoder = new JsonLineEncoder();
        encoder.setContext(loggers);
        encoder.start();
        ConsoleAppender<ILoggingEvent> stdout = new ConsoleAppender<>();
        stdout.setContext(loggers);
        stdout.setName("stdout");
        stdout.setEncoder(encoder);
        stdout.start();
        loggers.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(stdout);
        loggers.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        loggers.getLogger(OWN).setLevel(Level.INFO);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /// Sets the level of Siphon's own loggers, and routes `java.util.logging`, which gRPC uses, to the same output.
    public static void start(org.slf4j.event.Level level) {
        LogManager.getLogManager().reset();
        SLF4JBridgeHandler.install();
        java.util.logging.Logger.getLogger("").setLevel(java.util.logging.Level.WARNING);
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext loggers) {
            loggers.getLogger(OWN).setLevel(Level.convertAnSLF4JLevel(level));
        }
    }
}
