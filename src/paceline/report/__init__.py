"""One self-contained page about a race, made of its story alone.

`write` makes the page that `result.report("race.html")` and `paceline report` write. It is built in
two steps, so that a server can show the same page of a race under way:

- `parts(story)` is all that depends on the race: `fragments`, which are the inside of elements by
  their id, as HTML that is safe to insert; and `data`, which are the columns that the charts draw,
  by the name of their source. Both are plain values for JSON (`Parts.to_json`). The names are the
  same for every story. `arms` has the labels, which other sources refer to by the number of the
  arm, and a source `ticks-…` has the marks of the axis of that name.
- `page(parts)` is the whole document, which needs nothing from any network. With `live=`, a
  JavaScript text, it also runs that text once the page is ready, and allows it to connect to the
  server that the page came from (nowhere else).

A script of the page has one function for both, `paceline.update({fragments, data})`, where either
may be missing, and so may any name in them. It replaces what changed, in place: how the reader has
sorted, searched, zoomed, scrolled, opened and focused the page stays as it is. Ranges of charts
follow the data until the reader zooms. So a live page needs a script such as

    const events = new EventSource("events");
    events.onmessage = (event) => paceline.update(JSON.parse(event.data));

A live page also has an empty element with the id `live`, a status for assistive technology, where
the script, or a fragment of that name, may say that the connection is lost.

Text of users (labels, messages, commands, paths) becomes neither markup nor script: it is escaped
where it is inserted, it is never part of a script, and the page's content security policy runs no
script but its own, by their hashes.
"""

from paceline.report.contents import Parts, parts
from paceline.report.document import page, write

__all__ = ["Parts", "page", "parts", "write"]
