package dev.siphon.csi.server;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has files mapped by the page. Where the page cache holds a file in huge pages (Linux 6.x), each first touch
/// maps 2 MB of it: of the AOT cache, of the virtual machine and of Ceph's libraries, 15 MB more than are used.
public final class SmallPages {
    private static final Logger LOG = LoggerFactory.getLogger(SmallPages.class);
    private static final Path SMAPS = Path.of("/proc/self/smaps");

    /// A mapping that cannot be written, of the virtual machine or its AOT cache, which are mapped once and for
    /// all before `main`. Others are not touched: who loads a library meanwhile maps all of it read-only first,
    /// and then parts of it anew, which would be lost.
    private static final Pattern READ_ONLY_FILE =
            Pattern.compile("([0-9a-f]+)-([0-9a-f]+) r-[-x]p [0-9a-f]+ \\S+ [1-9][0-9]*\\s+/.*(/libjvm\\.so|\\.aot)");

    private static final Pattern HEADER = Pattern.compile("[0-9a-f]+-[0-9a-f]+ .*");

    private static final Pattern NOT_WRITTEN = Pattern.compile("(Anonymous|Swap): +0 kB");

    /// prctl(2), `linux/prctl.h`.
    private static final int PR_SET_THP_DISABLE = 41;

    /// madvise(2), `asm-generic/mman-common.h`.
    private static final int MADV_DONTNEED = 4;

    private SmallPages() {}

    /// Asks the kernel for small pages from now on, and lets go of what the virtual machine has mapped in huge
    /// ones. What is still needed is mapped again from the page cache, which costs some milliseconds and reads
    /// nothing. A kernel that cannot is no trouble. To be called before Ceph's libraries are loaded.
    @SuppressWarnings("restricted") // native calls
    public static void ask() {
        Linker linker = Linker.nativeLinker();
        MethodHandle prctl = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        MethodHandle madvise = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("madvise"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        try {
            if ((int) prctl.invokeExact(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L) != 0) {
                return;
            }
            List<String> lines = Files.readAllLines(SMAPS);
            for (int i = 0; i < lines.size(); i++) {
                Matcher mapping = READ_ONLY_FILE.matcher(lines.get(i));
                if (mapping.matches() && isAsInFile(lines.subList(i + 1, lines.size()))) {
                    long begin = Long.parseUnsignedLong(mapping.group(1), 16);
                    long bytes = Long.parseUnsignedLong(mapping.group(2), 16) - begin;
                    int _ = (int) madvise.invokeExact(MemorySegment.ofAddress(begin), bytes, MADV_DONTNEED);
                }
            }
        } catch (IOException unreadable) {
            LOG.debug("{} cannot be read", SMAPS, unreadable);
        } catch (Throwable e) {
            throw new LinkageError("prctl(2) or madvise(2)", e);
        }
    }

    /// Whether a mapping, whose fields these lines begin with, holds no page that was written before it became
    /// read-only, as relocations are, in memory or in swap: such a page would be lost.
    private static boolean isAsInFile(List<String> fields) {
        int clean = 0;
        for (String field : fields) {
            if (HEADER.matcher(field).matches()) {
                break;
            }
            if (NOT_WRITTEN.matcher(field).matches()) {
                clean++;
            }
        }
        return clean == 2;
    }
}
