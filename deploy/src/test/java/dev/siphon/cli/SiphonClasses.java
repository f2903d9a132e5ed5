package dev.siphon.cli;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/// All main classes of all modules, imported once for the tests that read them.
final class SiphonClasses {
    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            // `mvn verify` has packed csi-proto's test classes into a jar, which the option above does not know.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("dev.siphon");

    private SiphonClasses() {}
}
