package dev.siphon.csi.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// Collects all problems with a process's flags, to report them at once.
public final class ConfigProblems {
    private final List<String> problems = new ArrayList<>();

    /// A parsed value, or none after a problem; [#orFail] then never uses it.
    public static final class ParsedValue<T> {
        private final @Nullable T value;

        private ParsedValue(@Nullable T value) {
            this.value = value;
        }

        /// Checks whether the value could be parsed.
        public boolean isRead() {
            return value != null;
        }

        /// Returns the value.
        ///
        /// @throws IllegalStateException if it could not be parsed, which cannot happen inside [#orFail]
        public T get() {
            if (value == null) {
                throw new IllegalStateException("read after a problem");
            }
            return value;
        }
    }

    /// Parses one value. An [IllegalArgumentException] or [dev.siphon.csi.DriverException.InvalidRequest] becomes a
    /// problem of `flag`.
    public <T> ParsedValue<T> read(String flag, Supplier<T> parse) {
        try {
            return new ParsedValue<>(parse.get());
        } catch (IllegalArgumentException | dev.siphon.csi.DriverException.InvalidRequest e) {
            add(flag, e.getMessage() == null ? "is wrong" : e.getMessage());
            return new ParsedValue<>(null);
        }
    }

    /// As [#read(String, Supplier)], from a value that was parsed before. If that failed, so does this one, without
    /// another problem.
    public <S, T> ParsedValue<T> read(String flag, ParsedValue<S> before, Function<S, T> parse) {
        S value = before.value;
        return value == null ? new ParsedValue<>(null) : read(flag, () -> parse.apply(value));
    }

    /// Builds a value from others, unless there is already a problem.
    public <T> ParsedValue<T> readIfNone(Supplier<T> build) {
        return new ParsedValue<>(problems.isEmpty() ? build.get() : null);
    }

    /// Adds a problem of `flag`.
    public void add(String flag, String problem) {
        problems.add(flag + ": " + problem);
    }

    /// Builds the configuration if there was no problem.
    ///
    /// @throws CommandLine.ParameterException with all problems; the launcher prints it and exits 2
    public <T> T orFail(CommandSpec command, Supplier<T> build) {
        if (!problems.isEmpty()) {
            throw new CommandLine.ParameterException(command.commandLine(), String.join("\n", problems));
        }
        return build.get();
    }
}
