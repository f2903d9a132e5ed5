import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/// Copies a jar, its class files brought to the format of Java 8: Upgrade IN OUT, with IN on the classpath.
///
/// An AOT cache takes no class older than Java 6 (picocli is compiled for Java 5), because such a class has no
/// stack maps and has to be verified the slow way at every start. The code stays the same; stack maps are added.
final class Upgrade implements ClassTransform {
    private static final String NOTICE = """
            The class files of this jar were rewritten to class file format 52, with stack maps, from the published
            artifact of the same name. Nothing else was changed.
            """;

    public static void main(String[] args) throws IOException {
        ClassFile format = ClassFile.of(
                StackMapsOption.GENERATE_STACK_MAPS,
                ClassHierarchyResolverOption.of(
                        ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())));
        try (JarFile in = new JarFile(args[0]);
                JarOutputStream out = new JarOutputStream(new FileOutputStream(args[1]))) {
            for (JarEntry entry : Collections.list(in.entries())) {
                byte[] content = in.getInputStream(entry).readAllBytes();
                put(out, entry, entry.getName().endsWith(".class") ? upgrade(format, content) : content);
            }
            JarEntry notice = new JarEntry("META-INF/SIPHON-CHANGES");
            notice.setTimeLocal(in.stream().findFirst().orElseThrow().getTimeLocal());
            put(out, notice, NOTICE.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static byte[] upgrade(ClassFile format, byte[] content) {
        ClassModel model = format.parse(content);
        return model.majorVersion() >= ClassFile.JAVA_6_VERSION
                ? content
                : format.transformClass(model, new Upgrade());
    }

    private static void put(JarOutputStream out, JarEntry entry, byte[] content) throws IOException {
        JarEntry copy = new JarEntry(entry.getName());
        copy.setTimeLocal(entry.getTimeLocal());
        out.putNextEntry(copy);
        out.write(content);
        out.closeEntry();
    }

    @Override
    public void atStart(ClassBuilder builder) {
        builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
    }

    @Override
    public void accept(ClassBuilder builder, ClassElement element) {
        switch (element) {
            case ClassFileVersion _ -> {}
            // passing on each instruction makes the code be built anew, and with it its stack map
            case MethodModel method ->
                builder.transformMethod(method, MethodTransform.transformingCode((code, part) -> code.with(part)));
            default -> builder.with(element);
        }
    }
}
