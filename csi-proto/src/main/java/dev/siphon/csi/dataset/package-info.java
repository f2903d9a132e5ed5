/// What packer, controller and nodes agree on about datasets: the manifest beside each image.
@NullMarked
package dev.siphon.csi.dataset;

import org.jspecify.annotations.NullMarked;
