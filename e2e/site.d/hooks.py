"""What MkDocs needs beyond mkdocs.yml: lists as GitHub reads them, links that leave docs/, the decisions in the menu, no network."""

import os
import posixpath
import re

from mkdocs.structure.files import File

HERE = os.path.dirname(os.path.realpath(__file__))
FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"( *)([-*]|\d{1,2}\.)( +)(.*)")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config):
    # The offline plugin names a script of the network here.
    config.extra["polyfills"] = ["frame-worker.js"]
    config.extra_css.append("site.css")
    decisions = os.path.join(config.docs_dir, "adr")
    files = sorted(name for name in os.listdir(decisions) if name[0].isdigit())
    for section in config.nav:
        for title, pages in section.items():
            if title == "Contributing":
                pages[-1]["Decisions"] = ["adr/README.md", *(f"adr/{name}" for name in files)]
    return config


def on_files(files, config):
    for name in ["frame-worker.js", "site.css"]:
        files.append(File.generated(config, name, abs_src_path=os.path.join(HERE, name)))
    return files


def lists(markdown):
    """Python-Markdown wants four blanks for each level of a list, and an empty line before the first item."""
    out, fenced = [""], False
    # where the text of each enclosing item begins
    levels = []
    for line in markdown.split("\n"):
        if not line.strip():
            out.append("")
            continue
        indent = len(line) - len(line.lstrip(" "))
        item = None if fenced else ITEM.match(line)
        # A line that begins further left ends the item, except that it continues a paragraph of it.
        if not fenced and (item or FENCE.match(line) or not out[-1].strip()):
            while levels and indent < levels[-1]:
                levels.pop()
        if item:
            if not levels and out[-1].strip():
                out.append("")
            out.append(" " * 4 * len(levels) + f"{item.group(2)} {item.group(4)}")
            levels.append(len(item.group(1) + item.group(2) + item.group(3)))
        else:
            text = line[min(indent, levels[-1] if levels else 0):]
            out.append(" " * 4 * len(levels) + (text if fenced else re.sub(r"^( *\d+)\. ", r"\1\\. ", text)))
        if FENCE.match(line):
            fenced = not fenced
    return "\n".join(out)


def outside(markdown, page):
    """A link to a file of the repository becomes the file's path: the site has pages only."""

    def path(link):
        text, target, anchor = link.group(1), link.group(2), link.group(3) or ""
        if re.match(r"[a-z]+:", target):
            return link.group()
        file = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        if file.startswith("docs/"):
            return link.group()
        name = posixpath.basename(file)
        return text if name in text or text in name else f"{text} (`{file}`)"

    return LINK.sub(path, markdown)


def on_page_markdown(markdown, page, config, files):
    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    text = "".join(part if index % 2 else outside(part, page.file.src_uri) for index, part in enumerate(parts))
    return lists(text)
