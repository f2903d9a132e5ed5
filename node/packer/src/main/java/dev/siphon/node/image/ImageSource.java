package dev.siphon.node.image;

/// The data that an image is made of.
interface ImageSource extends AutoCloseable {
    /// Returns the tree of everything in it.
    ///
    /// @param parallel how many directories are read at once, if it has directories
    ImageInode.Folder tree(ImageModes modes, int parallel, PackListener listener);

    /// Returns a reader that only the calling thread may use.
    ///
    /// @param root the result of [#tree]
    Reader reader(ImageInode.Folder root);

    /// Called once the image is complete: deletes files that were kept for a resume.
    void used();

    @Override
    void close();

    /// Reads the contents of files.
    interface Reader extends FileData, AutoCloseable {
        @Override
        void close();
    }

    /// Opens the source, once the image's lock is held.
    interface ReaderOpener {
        ImageSource open(ImageFiles files);
    }
}
