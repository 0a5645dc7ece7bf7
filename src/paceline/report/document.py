"""The whole page as one file: markup, style, scripts and data, with nothing to fetch."""

import base64
import hashlib
import json
import os
import tempfile
import zlib
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template

from paceline.errors import InvalidInput
from paceline.report.charts import charts_as_json
from paceline.report.contents import Parts, parts
from paceline.report.extra import needs_bokeh
from paceline.report.parameters import MOST_AXES
from paceline.story.story import Story

_HERE = "paceline.report"


def write(story: Story, path: str | os.PathLike[str]) -> Path:
    """Write the page of a race; a file that exists is replaced once the new one is whole."""
    target = Path(path)
    text = page(parts(story))
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")  # a pipe or a device stays what it is
        else:
            _replace(target.resolve(), text)
    except (OSError, ValueError) as error:  # a path may have characters that no file has
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"cannot write the report to {target}: {why}") from error
    return target


def _replace(target: Path, text: str) -> None:
    """Write a draft beside the file, which takes its place once it is whole."""
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def page(parts: Parts, *, live: str | None = None) -> str:
    """The document; `live` is a script that follows a race, as the package describes."""
    scripts = [_bokeh(), _own("page.js"), *([live] if live else [])]
    inserted = {
        f"fragment_{name.replace('-', '_')}": html for name, html in parts.fragments.items()
    }
    return Template(_own("page.html")).substitute(
        inserted,
        policy=_policy(scripts, connects=live is not None),
        style=_own("page.css"),
        scripts="\n".join(f"<script>{_harmless(script)}</script>" for script in scripts),
        data=_packed({"charts": json.loads(charts_as_json()), "data": parts.data}),
        parameters="\n".join(
            Template(_own("parameter.html")).substitute(
                place=place, name=parts.fragments[f"parameter-{place}-name"]
            )
            for place in range(MOST_AXES)
        ),
        live='<p id="live" role="status"></p>' if live else "",
    )


def _policy(scripts: list[str], *, connects: bool) -> str:
    """What the browser allows: these scripts by their hashes, and no address but the page's own."""
    hashes = " ".join(f"'sha256-{_digest(_harmless(script))}'" for script in scripts)
    rules = {
        "default-src": "'none'",
        "script-src": hashes,
        "style-src": "'unsafe-inline'",  # intervals in the table, and charts, have a style each
        "img-src": "data: blob:",
        "connect-src": "'self'" if connects else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _harmless(script: str) -> str:
    r"""The script, with nothing that a parser of HTML takes for its end.

    >>> print(_harmless("x = '</script>'"))
    x = '<\/script>'
    """
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _packed(data: object) -> str:
    """Columns as compressed JSON in base64: a fifth of the size, and no character that acts."""
    plain = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(plain.encode())).decode()


@cache
def _own(name: str) -> str:
    return resources.files(_HERE).joinpath(name).read_text(encoding="utf-8")


@cache
def _bokeh() -> str:
    """Bokeh's core, as the installed package has it."""
    with needs_bokeh():
        import bokeh

    script = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
    return script.read_text(encoding="utf-8")
