package dev.siphon.cli;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Checks that each simple name has one type over all modules: docs/reference/glossary.md. Nested types may share
/// a name, because it is read with that of the outer type. No nested type may have the name of a top-level type.
final class TypeNamesTest {
    @Test
    void noSimpleNameHasTwoMeanings() {
        Map<String, Set<JavaClass>> all = SiphonClasses.ALL.stream()
                .filter(TypeNamesTest::isNamedForOthers)
                .collect(groupingBy(
                        JavaClass::getSimpleName, mapping(type -> type, toCollection(TypeNamesTest::byName))));
        Map<String, Set<JavaClass>> several = new TreeMap<>(all);
        several.values().removeIf(types -> types.size() == 1 || types.stream().noneMatch(JavaClass::isTopLevelClass));
        assertEquals(Map.of(), several, "names with several meanings");
    }

    private static Set<JavaClass> byName() {
        return new TreeSet<>(Comparator.comparing(JavaClass::getName));
    }

    /// Excludes private types and generated protocol types, whose names the protocols define.
    private static boolean isNamedForOthers(JavaClass type) {
        boolean hasName = !type.isAnonymousClass()
                && !type.isLocalClass()
                && !type.getSimpleName().equals("package-info");
        return hasName
                && !type.getPackageName().endsWith(".v1")
                && !type.getModifiers().contains(JavaModifier.PRIVATE)
                && !type.getModifiers().contains(JavaModifier.SYNTHETIC);
    }
}
