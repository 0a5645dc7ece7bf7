"""JSON for scripts: data, unchanged, whatever a terminal would make of it."""

import json
from typing import Any


def json_text(plain: Any) -> str:
    r"""The value as JSON in plain ASCII, which passes a terminal and comes back as it was.

    >>> print(json_text({"label": "a\x7f\x1b"}))
    {
      "label": "a\u007f\u001b"
    }
    """
    # The one control character that JSON does not ask to be escaped; it only occurs in strings.
    return json.dumps(plain, indent=2).replace("\x7f", "\\u007f")
