package dev.siphon.csi.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;

/// The build of this program.
///
/// @param version the version, as `deploy/version` derives it from git's tags; not from the pom, whose version never
/// changes
/// @param revision the abbreviated git commit; `unknown` for a build outside a checkout
public record BuildInfo(String version, String revision) {
    /// Reads the properties that the build wrote into the jar.
    public static BuildInfo read() {
        Properties properties = new Properties();
        try (InputStream in = Objects.requireNonNull(
                BuildInfo.class.getResourceAsStream("build.properties"), "the jar lacks build.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BuildInfo(
                Objects.requireNonNull(properties.getProperty("version")),
                Objects.requireNonNull(properties.getProperty("revision")));
    }

    @Override
    public String toString() {
        return version + "+" + revision;
    }
}
