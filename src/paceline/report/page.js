// The page's own script: the table, the charts, and updates in place.
"use strict";
const paceline = (() => {
  const $ = (id) => document.getElementById(id);

  // ---- the table ----

  const sorting = { column: null, falling: false };
  const words = new Intl.Collator(undefined, { numeric: true });

  function key(row, column) {
    const cell = row.cells[column];
    if (!cell) return "";
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent.toLowerCase();
    return value === "" ? null : Number(value);
  }

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
    showSorting();
    sort();
  }

  function showSorting() {
    const row = $("standings-head").rows[0];
    for (const [place, head] of row ? [...row.cells].entries() : []) {
      if (place !== sorting.column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sorting.falling ? "descending" : "ascending");
    }
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

  // ---- the charts ----

  let charts = null; // the document of Bokeh, once it has one
  let labels = [];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // A tag 'line_color=--muted' says which colour of the style sheet a property gets.
  function coloured({ tags = [], palette }) {
    return tags.flatMap((tag) => {
      if (tag === "palette") return [["palette", palette.map((_, place) => color(`--c${place}`))]];
      const [property, name] = String(tag).split("=");
      return name ? [[property, color(name)]] : [];
    });
  }

  function paint() {
    for (const model of charts.all_models) {
      for (const [property, value] of coloured(model)) model[property] = value;
    }
  }

  function seconds(value) {
    if (value === 0) return "0";
    if (value < 0) return `-${seconds(-value)}`;
    const number = (one) => String(Number(one.toPrecision(6)));
    if (value < 0.9995) return `${number(value * 1000)} ms`;
    if (value < 60) return `${number(value)} s`;
    const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    let left = Math.round(value);
    const parts = [];
    for (const [unit, size] of units) {
      const many = Math.floor(left / size);
      left -= many * size;
      if (many) parts.push(`${many} ${unit}`);
    }
    return parts.slice(0, 2).join(" ");
  }

  // Ticks of an axis with a tag, in words. Bokeh's own way would make a function of a text.
  function formatTicks() {
    const formatter = Bokeh.Models.BasicTickFormatter.prototype;
    const plain = formatter.doFormat;
    formatter.doFormat = function (ticks, options) {
      if (this.tags.includes("seconds")) return ticks.map(seconds);
      if (this.tags.includes("whole")) return ticks.map(String);
      return plain.call(this, ticks, options);
    };
  }

  function draw(data, first = false) {
    for (const [name, given] of Object.entries(data)) {
      const model = charts.get_model_by_name(name);
      if (!model) continue;
      if (name.startsWith("ticks-")) {
        model.major_label_overrides = new Map(given.at.map((at, place) => [at, given.label[place]]));
        model.ticker.ticks = given.at;
        continue;
      }
      if (!first) model.data = joined(given, data.arms);
    }
    for (const figure of document.querySelectorAll("[data-needs]")) {
      const needed = data[figure.dataset.needs];
      if (needed) figure.hidden = !Object.values(needed)[0].length;
    }
  }

  // Puts columns and colours into charts that are not yet drawn, so that they are drawn once.
  function fill(node, data) {
    if (node === null || typeof node !== "object") return;
    Object.values(node).forEach((inner) => fill(inner, data));
    const own = node.attributes;
    if (!own) return;
    const source = node.name === "ColumnDataSource" ? data[own.name] : null;
    if (source) own.data = { type: "map", entries: Object.entries(joined(source, data.arms)) };
    for (const [property, value] of coloured(own)) {
      own[property] = own[property]?.type === "value" ? { type: "value", value } : value;
    }
  }

  // Sources have the numbers of arms; their labels are the same for all.
  function joined(columns, arms) {
    if (arms) labels = arms.label;
    if (!("arm" in columns)) return columns;
    return { ...columns, label: columns.arm.map((arm) => labels[arm] ?? "other arms") };
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  async function begin() {
    const packed = $("data");
    const given = await unpack(packed.textContent.trim());
    packed.remove(); // its memory is better used by the charts
    Bokeh.set_log_level("error"); // that charts without data have no range is no news
    formatTicks();
    fill(given.charts.docs, given.data);
    const before = Bokeh.documents.length;
    await Bokeh.embed.embed_items(given.charts.docs, given.charts.items);
    charts = Bokeh.documents[before];
    // A finger scrolls the page; it zooms once the reader has chosen the tool.
    for (const model of charts.all_models) {
      if (model.type === "BoxZoomTool") model.active = matchMedia("(pointer: fine)").matches;
    }
    draw(given.data, true);
    for (const waiting of early.splice(0)) draw(waiting);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  }

  // ---- updates ----

  const early = []; // data that came before the charts were there
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

  function tidy() {
    for (const name of ["failures", "printed"]) {
      $(`${name}-section`).hidden = !$(name).firstChild;
    }
    for (const link of document.querySelectorAll("nav a")) {
      link.hidden = document.querySelector(link.hash).hidden;
    }
  }

  function update({ fragments = {}, data = {} }) {
    for (const [id, html] of Object.entries(fragments)) {
      const element = $(id);
      if (element) replace(element, html);
    }
    if ("standings-head" in fragments) showSorting();
    if ("standings" in fragments) {
      sort();
      search();
    }
    if (charts) draw(data);
    else early.push(data);
    tidy();
  }

  // ---- the beginning ----

  $("standings-head").addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (head && event.target.closest("button")) sortBy(head.cellIndex);
  });
  $("search").addEventListener("input", search);
  search();
  tidy();
  begin()
    .catch((error) => {
      $("trouble").textContent = `The charts cannot be drawn in this browser (${error}). The tables have the same numbers.`;
      $("trouble").hidden = false;
    })
    .finally(() => {
      tidy();
      document.documentElement.dataset.ready = "";
    });

  return { update };
})();
