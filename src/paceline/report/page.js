// The page's own script: the table, the charts' data, and updates in place.
"use strict";
const paceline = (() => {
  const $ = (id) => document.getElementById(id);

  // ---- the table ----

  const sorting = { column: null, falling: false };

  function key(row, column) {
    const cell = row.cells[column];
    if (!cell) return "";
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent.toLowerCase();
    return value === "" ? null : Number(value);
  }

  const words = new Intl.Collator(undefined, { numeric: true });

  function compare(a, b) {
    if (a === null || a === "") return b === null || b === "" ? 0 : 1; // what is unknown comes last
    if (b === null || b === "") return -1;
    const order = typeof a === "number" && typeof b === "number" ? a - b : words.compare(a, b);
    return sorting.falling ? -order : order;
  }

  function sort() {
    if (sorting.column === null) return;
    const body = $("standings");
    const keyed = [...body.rows].map((row) => [key(row, sorting.column), row]);
    keyed.sort((a, b) => compare(a[0], b[0]));
    body.append(...keyed.map(([, row]) => row));
  }

  function sortBy(column) {
    if (sorting.column === column && !sorting.falling) sorting.falling = true;
    else Object.assign(sorting, { column, falling: false });
    for (const [place, head] of [...$("standings-head").rows[0].cells].entries()) {
      if (place === column) head.ariaSort = sorting.falling ? "descending" : "ascending";
      else head.removeAttribute("aria-sort");
    }
    sort();
  }

  function search() {
    const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of $("standings").rows) {
      const text = wanted.length ? row.textContent.toLowerCase() : "";
      row.hidden = !wanted.every((word) => text.includes(word));
      found += !row.hidden;
    }
    const all = $("standings-count").textContent;
    $("found").value = wanted.length ? `${found} of ${all}` : all;
  }

  // ---- updates ----

  const shown = new Map(); // the HTML that each fragment was given last

  function replace(element, html) {
    if (shown.get(element.id) === html) return;
    shown.set(element.id, html);
    const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
    const open = [...element.querySelectorAll("details[open][id]")].map((one) => one.id);
    element.innerHTML = html;
    for (const id of open) if ($(id)) $(id).open = true;
    if (focused && $(focused)) $(focused).focus({ preventScroll: true });
  }

  function update({ fragments = {}, data = {} }) {
    for (const [id, html] of Object.entries(fragments)) {
      const element = $(id);
      if (element) replace(element, html);
    }
    if ("standings" in fragments) {
      sort();
      search();
    }
  }

  // ---- the beginning ----

  $("standings-head").addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (head && event.target.closest("button")) sortBy(head.cellIndex);
  });
  $("search").addEventListener("input", search);
  search();
  document.documentElement.dataset.ready = "";

  return { update };
})();
