"""A page taken apart by a parser: what a browser would make elements, attributes and scripts of."""

from html.parser import HTMLParser

VOID = {"meta", "input", "link", "br", "img", "hr", "wbr"}


class Parsed(HTMLParser):
    """Elements with their attributes, and the texts of scripts and styles, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self._text: list[str] = []
        self.feed(text)
        self.close()
        self.wrong += [f"left open: {tag}" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        self._text = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"closed unopened: {tag}")
        if tag == "script":
            opened = next(attrs for name, attrs in reversed(self.elements) if name == "script")
            self.scripts.append((opened, "".join(self._text)))
        if tag == "style":
            self.styles.append("".join(self._text))

    def handle_data(self, data: str) -> None:
        self._text.append(data)
        if self._open and self._open[-1] not in ("script", "style"):
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"a comment: {data[:40]}")
