package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class BuildInfoTest {
    @Test
    void theBuildHasWrittenDownWhichItIs() {
        BuildInfo build = BuildInfo.read();
        assertTrue(build.version().matches("[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?"), build.version());
        assertTrue(build.revision().matches("[0-9a-f]{12}|unknown"), build.revision());
    }
}
