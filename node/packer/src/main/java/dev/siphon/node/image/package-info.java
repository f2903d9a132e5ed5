/// Packs a tree of files into one reproducible EROFS image with a digest per chunk
/// (docs/how-to/publish-datasets.md, ADR 21).
///
/// The tree is walked once ([SourceTreeWalk], [ImageTree]). The result determines the place of every byte of the
/// image ([ImageLayout]). Each chunk is then made on its own, in any order ([ImageContent], [ChunkWork]). Completed
/// chunks survive a crash of the packer ([PartFile]).
@NullMarked
package dev.siphon.node.image;

import org.jspecify.annotations.NullMarked;
