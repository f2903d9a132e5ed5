package dev.siphon.node.image;

/// What an image is made of.
interface ImageSource extends AutoCloseable {
    /// Looks at all that is in it.
    ///
    /// @param parallel how many directories are looked at at the same time, where it has such
    ImageInode.Folder tree(ImageModes modes, int parallel, PackListener listener);

    /// For one thread, the one that asks for it.
    ///
    /// @param root what [#tree] said
    Reader reader(ImageInode.Folder root);

    /// The image is whole: what was kept to go on with may go.
    void used();

    @Override
    void close();

    /// The contents of its files.
    interface Reader extends FileData, AutoCloseable {
        @Override
        void close();
    }

    /// How to come by it, once nobody else makes the same image.
    interface ReaderOpener {
        ImageSource open(ImageFiles files);
    }
}
