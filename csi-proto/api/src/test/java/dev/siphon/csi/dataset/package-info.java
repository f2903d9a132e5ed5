@NullMarked
package dev.siphon.csi.dataset;

import org.jspecify.annotations.NullMarked;
