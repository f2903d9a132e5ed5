package dev.siphon.csi;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;

/// Leaves out test classes, also those that `mvn verify` has packed into a jar for the tests of other modules.
public final class MainClasses implements ImportOption {
    private static final ImportOption NO_TESTS = new DoNotIncludeTests();

    @Override
    public boolean includes(Location location) {
        return NO_TESTS.includes(location) && !location.contains("-tests.jar");
    }
}
