/// Packs a tree of files into one reproducible EROFS image with a digest per chunk (docs/datasets.md, ADR 21).
///
/// A tree is walked once ([TreeWalk], [Tree]); from what was seen follows where every byte of the image will be
/// ([ImageLayout]); each chunk of it is then made by itself, in any order ([ImageContent], [ChunkWork]), and
/// what is done stays done when the packer dies ([PartFile]).
@NullMarked
package dev.siphon.node.image;

import org.jspecify.annotations.NullMarked;
