package dev.siphon.csi.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/// Records the JSON lines of one class's log, at every level.
final class RecordedLog implements AutoCloseable {
    private final JsonLineEncoder encoder = new JsonLineEncoder();
    private final List<JsonObject> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final Level before;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            String line = new String(encoder.encode(event), StandardCharsets.UTF_8);
            lines.add(JsonParser.parseString(line).getAsJsonObject());
        }
    };

    private RecordedLog(Logger logger) {
        this.logger = logger;
        this.before = logger.getEffectiveLevel();
    }

    static RecordedLog of(Class<?> type) {
        RecordedLog log = new RecordedLog((Logger) LoggerFactory.getLogger(type));
        log.logger.setLevel(Level.TRACE);
        log.appender.start();
        log.logger.addAppender(log.appender);
        return log;
    }

    List<JsonObject> lines() {
        return List.copyOf(lines);
    }

    /// Returns the lines with this message.
    List<JsonObject> lines(String message) {
        return lines.stream()
                .filter(line -> line.get("message").getAsString().equals(message))
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
    }
}
