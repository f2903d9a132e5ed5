package dev.siphon.csi.server;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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

    /// A mapping's first line in smaps: address, permissions, offset, device, inode, file.
    private static final Pattern HEADER = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) ([-rwxsp]{4}) \\S+ \\S+ \\d+ *(.*)");

    /// What stays loaded until the process ends.
    private static final Pattern LASTING =
            Pattern.compile(".*/lib(?:jvm|ceph-common|cephfs|rados|crypto|icu\\w+|stdc\\+\\+)\\.so.*|.*\\.aot");

    private static final Pattern WRITTEN = Pattern.compile("(?:Anonymous|Swap): +[1-9].*");

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
            for (Mapping mapping : asInFile(Files.readAllLines(SMAPS))) {
                int _ = (int) madvise.invokeExact(MemorySegment.ofAddress(mapping.begin), mapping.bytes, MADV_DONTNEED);
            }
        } catch (IOException unreadable) {
            LOG.debug("{} cannot be read", SMAPS, unreadable);
        } catch (Throwable e) {
            throw new LinkageError("prctl(2) or madvise(2)", e);
        }
    }

    /// The mappings of lasting files that can be had again from the file: nobody can write to them, and nobody has.
    ///
    /// A library that is being loaded is left alone: all of it is read-only at first, and its data is relocated
    /// and mapped anew only then. It is loaded when its data can be written. An AOT cache that could not be mapped
    /// where it was made for holds written pages.
    static List<Mapping> asInFile(List<String> smaps) {
        List<Mapping> lasting = new ArrayList<>();
        Set<String> loaded = new HashSet<>();
        for (String line : smaps) {
            Matcher header = HEADER.matcher(line);
            if (header.matches()) {
                Mapping mapping = new Mapping(header);
                lasting.add(mapping);
                if (mapping.permissions.equals("rw-p")) {
                    loaded.add(mapping.file);
                }
            } else if (!lasting.isEmpty() && WRITTEN.matcher(line).matches()) {
                lasting.getLast().written = true;
            }
        }
        lasting.removeIf(each -> each.written
                || each.permissions.charAt(1) == 'w'
                || !loaded.contains(each.file)
                || !LASTING.matcher(each.file).matches());
        return lasting;
    }

    /// A range of addresses and what is there.
    static final class Mapping {
        final long begin;
        final long bytes;
        final String permissions;
        final String file;
        private boolean written;

        private Mapping(Matcher header) {
            begin = Long.parseUnsignedLong(header.group(1), 16);
            bytes = Long.parseUnsignedLong(header.group(2), 16) - begin;
            permissions = header.group(3);
            file = header.group(4);
        }
    }
}
