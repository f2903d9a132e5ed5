package dev.siphon.cli;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.siphon.csi.MainClasses;

/// All main classes of all modules, imported once for the tests that read them.
final class SiphonClasses {
    static final JavaClasses ALL =
            new ClassFileImporter().withImportOption(new MainClasses()).importPackages("dev.siphon");

    private SiphonClasses() {}
}
