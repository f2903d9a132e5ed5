package dev.siphon.csi.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// Collects what is wrong with a process's flags, so that a person is told all of it at once.
public final class ConfigProblems {
    private final List<String> problems = new ArrayList<>();

    /// A value that was read, or was not, in which case [#orFail] never hands it out.
    public static final class ParsedValue<T> {
        private final @Nullable T value;

        private ParsedValue(@Nullable T value) {
            this.value = value;
        }

        /// Whether it could be read.
        public boolean isRead() {
            return value != null;
        }

        /// The value.
        ///
        /// @throws IllegalStateException if it could not be read; inside [#orFail] it always could
        public T get() {
            if (value == null) {
                throw new IllegalStateException("read after a problem");
            }
            return value;
        }
    }

    /// Reads one value; an [IllegalArgumentException] or a [dev.siphon.csi.DriverException.InvalidRequest]
    /// becomes a problem of `flag`.
    public <T> ParsedValue<T> read(String flag, Supplier<T> parse) {
        try {
            return new ParsedValue<>(parse.get());
        } catch (IllegalArgumentException | dev.siphon.csi.DriverException.InvalidRequest e) {
            add(flag, e.getMessage() == null ? "is wrong" : e.getMessage());
            return new ParsedValue<>(null);
        }
    }

    /// As [#read(String, Supplier)], from a value that was read before; if that could not be, neither is this one.
    public <S, T> ParsedValue<T> read(String flag, ParsedValue<S> before, Function<S, T> parse) {
        S value = before.value;
        return value == null ? new ParsedValue<>(null) : read(flag, () -> parse.apply(value));
    }

    /// Builds a value from others, unless there is a problem already.
    public <T> ParsedValue<T> readIfNone(Supplier<T> build) {
        return new ParsedValue<>(problems.isEmpty() ? build.get() : null);
    }

    /// Notes a problem of `flag`.
    public void add(String flag, String problem) {
        problems.add(flag + ": " + problem);
    }

    /// Builds the configuration if there was no problem.
    ///
    /// @throws CommandLine.ParameterException naming every problem; the launcher prints it and exits 2
    public <T> T orFail(CommandSpec command, Supplier<T> build) {
        if (!problems.isEmpty()) {
            throw new CommandLine.ParameterException(command.commandLine(), String.join("\n", problems));
        }
        return build.get();
    }
}
