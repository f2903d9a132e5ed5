package dev.siphon.node.image;

/// What an image is made of.
interface Source extends AutoCloseable {
    /// Looks at all that is in it.
    ///
    /// @param parallel how many directories are looked at at the same time, where it has such
    Inode.Folder tree(Modes modes, int parallel, PackListener listener);

    /// For one thread, the one that asks for it.
    ///
    /// @param root what [#tree] said
    Reader reader(Inode.Folder root);

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
    interface Opener {
        Source open(ImageFiles files);
    }
}
