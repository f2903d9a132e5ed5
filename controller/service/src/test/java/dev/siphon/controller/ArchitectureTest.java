package dev.siphon.controller;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import dev.siphon.csi.ArchitectureRules;
import dev.siphon.csi.MainClasses;

@AnalyzeClasses(packages = "dev.siphon.controller", importOptions = MainClasses.class)
final class ArchitectureTest {
    @ArchTest
    static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
