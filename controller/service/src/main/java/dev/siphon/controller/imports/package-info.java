/// DatasetImports: an account fetches data from a server or a folder, and gets a sealed dataset. All state is in
/// Kubernetes objects, so the next leader can continue.
@NullMarked
package dev.siphon.controller.imports;

import org.jspecify.annotations.NullMarked;
