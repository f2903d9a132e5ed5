package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.EnumMap;
import java.util.Map;
import java.util.NoSuchElementException;

/// Binds the functions of libcephfs.so.2 that Siphon uses; Ceph 18 and 20 have all of them
/// (`src/include/cephfs/libcephfs.h`).
@SuppressWarnings("restricted") // native calls are what this class is for
final class Libcephfs {
    private final Map<Function, MethodHandle> handles = new EnumMap<>(Function.class);

    /// A function with the types of its result and parameters.
    enum Function {
        BUFFER_FREE("ceph_buffer_free", MemoryLayout.paddingLayout(1), ADDRESS),
        CLOSE("ceph_close", JAVA_INT, ADDRESS, JAVA_INT),
        CLOSEDIR("ceph_closedir", JAVA_INT, ADDRESS, ADDRESS),
        CONF_SET("ceph_conf_set", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        CREATE("ceph_create", JAVA_INT, ADDRESS, ADDRESS),
        FCHMOD("ceph_fchmod", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
        FGETXATTR("ceph_fgetxattr", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG),
        FSETATTRX("ceph_fsetattrx", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT),
        FSETXATTR("ceph_fsetxattr", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT),
        FSTATX("ceph_fstatx", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
        FINISH_RECLAIM("ceph_finish_reclaim", MemoryLayout.paddingLayout(1), ADDRESS),
        FSYNC("ceph_fsync", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
        FTRUNCATE("ceph_ftruncate", JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG),
        INIT("ceph_init", JAVA_INT, ADDRESS),
        LGETXATTR("ceph_lgetxattr", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG),
        LINK("ceph_link", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        LLISTXATTR("ceph_llistxattr", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG),
        LL_LOOKUP("ceph_ll_lookup", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS),
        LL_LOOKUP_ROOT("ceph_ll_lookup_root", JAVA_INT, ADDRESS, ADDRESS),
        LL_OPENDIR("ceph_ll_opendir", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
        LL_PUT("ceph_ll_put", JAVA_INT, ADDRESS, ADDRESS),
        LL_RELEASEDIR("ceph_ll_releasedir", JAVA_INT, ADDRESS, ADDRESS),
        LL_RENAME("ceph_ll_rename", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
        LREMOVEXATTR("ceph_lremovexattr", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        LSETXATTR("ceph_lsetxattr", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT),
        MDS_COMMAND(
                "ceph_mds_command",
                JAVA_INT,
                ADDRESS,
                ADDRESS,
                ADDRESS,
                JAVA_LONG,
                ADDRESS,
                JAVA_LONG,
                ADDRESS,
                ADDRESS,
                ADDRESS,
                ADDRESS),
        MKDIR("ceph_mkdir", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT),
        MKNOD("ceph_mknod", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG),
        MOUNT("ceph_mount", JAVA_INT, ADDRESS, ADDRESS),
        MOUNT_PERMS("ceph_mount_perms", ADDRESS, ADDRESS),
        MOUNT_PERMS_SET("ceph_mount_perms_set", JAVA_INT, ADDRESS, ADDRESS),
        OPEN("ceph_open", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT),
        OPENAT("ceph_openat", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
        OPENDIR("ceph_opendir", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        READ("ceph_read", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG),
        READDIRPLUS_R("ceph_readdirplus_r", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS),
        READLINK("ceph_readlink", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG),
        RELEASE("ceph_release", JAVA_INT, ADDRESS),
        RENAME("ceph_rename", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        RMDIR("ceph_rmdir", JAVA_INT, ADDRESS, ADDRESS),
        SELECT_FILESYSTEM("ceph_select_filesystem", JAVA_INT, ADDRESS, ADDRESS),
        SET_UUID("ceph_set_uuid", MemoryLayout.paddingLayout(1), ADDRESS, ADDRESS),
        SETATTRX("ceph_setattrx", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT),
        SEEKDIR("ceph_seekdir", MemoryLayout.paddingLayout(1), ADDRESS, ADDRESS, JAVA_LONG),
        START_RECLAIM("ceph_start_reclaim", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT),
        STATX("ceph_statx", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT),
        SYMLINK("ceph_symlink", JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
        SYNC_FS("ceph_sync_fs", JAVA_INT, ADDRESS),
        TELLDIR("ceph_telldir", JAVA_LONG, ADDRESS, ADDRESS),
        UNLINK("ceph_unlink", JAVA_INT, ADDRESS, ADDRESS),
        UNMOUNT("ceph_unmount", JAVA_INT, ADDRESS),
        USERPERM_DESTROY("ceph_userperm_destroy", MemoryLayout.paddingLayout(1), ADDRESS),
        USERPERM_NEW("ceph_userperm_new", ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS),
        WRITE("ceph_write", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);

        private final String symbol;

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        private final FunctionDescriptor types;

        /// @param result a padding layout for a function without a result
        Function(String symbol, MemoryLayout result, MemoryLayout... parameters) {
            this.symbol = symbol;
            this.types = result instanceof java.lang.foreign.PaddingLayout
                    ? FunctionDescriptor.ofVoid(parameters)
                    : FunctionDescriptor.of(result, parameters);
        }
    }

    private Libcephfs(SymbolLookup library) {
        for (Function function : Function.values()) {
            MethodHandle handle =
                    Linker.nativeLinker().downcallHandle(library.findOrThrow(function.symbol), function.types);
            int arguments = function.types.argumentLayouts().size();
            handles.put(
                    function,
                    handle.asSpreader(Object[].class, arguments)
                            .asType(MethodType.methodType(Object.class, Object[].class)));
        }
    }

    /// Binds the library.
    ///
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if it is missing or lacks a needed function
    static Libcephfs load() {
        try {
            return new Libcephfs(SymbolLookup.libraryLookup("libcephfs.so.2", Arena.global()));
        } catch (IllegalArgumentException | NoSuchElementException e) {
            throw new DriverException.Unsupported(
                    "libcephfs.so.2 cannot be used: " + e.getMessage() + "; install Ceph's libcephfs2");
        }
    }

    /// Calls a function whose result is an int.
    ///
    /// @param arguments of the function's parameter types
    int call(Function function, Object... arguments) {
        return (int) callAny(function, arguments);
    }

    /// Calls a function whose result is not an int.
    Object callAny(Function function, Object... arguments) {
        MethodHandle handle = java.util.Objects.requireNonNull(handles.get(function));
        try {
            return handle.invokeExact(arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new LinkageError(function.symbol, e);
        }
    }
}
