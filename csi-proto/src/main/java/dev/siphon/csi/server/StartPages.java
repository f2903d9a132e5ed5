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

/// The pages of code that only the start of a process needed. They stay mapped although nobody comes back to
/// them, and each first touch of a file that the page cache holds in huge pages (Linux 6.x) maps 2 MB of it:
/// together 12 MB of the virtual machine, of its AOT cache and of Ceph's libraries.
final class StartPages {
    private static final Logger LOG = LoggerFactory.getLogger(StartPages.class);
    private static final Path SMAPS = Path.of("/proc/self/smaps");

    /// Code of the libraries that stay loaded until the process ends, and read-only data of what was mapped before
    /// `main`. Not that of other libraries: relocations write to it while one is being loaded, and would be lost.
    private static final Pattern READ_ONLY = Pattern.compile(
            "([0-9a-f]+)-([0-9a-f]+) "
                    + "(?:r-xp .*/lib(?:jvm|ceph-common|cephfs|rados|crypto|icu\\w+|stdc\\+\\+)\\.so.*|r--p .*(?:/libjvm\\.so|\\.aot))");

    private static final Pattern HEADER = Pattern.compile("[0-9a-f]+-[0-9a-f]+ .*");

    private static final Pattern NOT_WRITTEN = Pattern.compile("(Anonymous|Swap): +0 kB");

    /// prctl(2), `linux/prctl.h`.
    private static final int PR_SET_THP_DISABLE = 41;

    /// madvise(2), `asm-generic/mman-common.h`.
    private static final int MADV_DONTNEED = 4;

    private final MethodHandle prctl;
    private final MethodHandle madvise;

    /// Made when the process starts, which makes it a part of the AOT cache.
    @SuppressWarnings("restricted") // native calls
    StartPages() {
        Linker linker = Linker.nativeLinker();
        prctl = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        madvise = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("madvise"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    }

    /// Lets go of them, and asks the kernel for small pages from now on. What is needed after all is mapped again
    /// from the page cache, which costs some milliseconds and reads nothing. A kernel that cannot is no trouble.
    void letGo() {
        try {
            int _ = (int) prctl.invokeExact(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L);
            List<String> lines = Files.readAllLines(SMAPS);
            for (int i = 0; i < lines.size(); i++) {
                Matcher mapping = READ_ONLY.matcher(lines.get(i));
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
    /// read-only, in memory or in swap: such a page would be lost. An AOT cache that could not be mapped where it
    /// was made for holds many.
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
