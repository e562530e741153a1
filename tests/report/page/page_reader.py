"""What a browser would see of a page, without a browser."""

import base64
import gzip
import json
from html.parser import HTMLParser

import numpy as np


class PageReader(HTMLParser):
    """Elements with their attributes, visible text, and the content of script elements."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.scripts = [], [], []
        self._open = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    @property
    def data(self):
        return json.loads(self.scripts[0])

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def unpack(packed):
    """Return the array of a packed one."""
    values = np.frombuffer(gzip.decompress(base64.b64decode(packed["gzip"])), dtype=packed["type"])
    return values.reshape(packed["shape"])


def unpack_ids(data):
    """Return the node ids of a page's data."""
    return json.loads(gzip.decompress(base64.b64decode(data["ids"])))


def unpack_feature(entry):
    """Return the 256 levels of a feature."""
    return np.frombuffer(gzip.decompress(base64.b64decode(entry["gzip"])), dtype=np.uint8)
