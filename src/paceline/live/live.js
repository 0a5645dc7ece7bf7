// Follows a race: what the server sends goes into the page, and a line says how the race is.
"use strict";
(() => {
  const line = document.getElementById("live");
  const SILENT_MS = 15000; // the server speaks every 5 s: if not, the connection is lost
  const AGAIN_MS = 2000;
  const held = { fragments: {}, data: {} }; // as sent so far; new rows come without the old ones
  let place = "PLACE"; // what this page shows: the server, and its version
  let status = null;
  let link = "lost";
  let heard = performance.now(); // when the server last spoke
  let updated = performance.now(); // when the page last changed
  let source = null;

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    #live::before { content: ""; display: inline-block; width: .6em; height: .6em;
      margin-right: .45em; border-radius: 50%; background: #8a8f98; }
    #live[data-state=running]::before { background: #1a9850; animation: paceline-live 2s infinite; }
    #live:is([data-state=stopped], [data-state=damaged], [data-state=gone], [data-link=lost])::before {
      background: #d9480f; animation: none; }
    .brand { flex-wrap: wrap; overflow-wrap: normal; }
    .brand #live { flex: 1 1 16rem; overflow-wrap: anywhere; }
    #live code { user-select: all; overflow-wrap: anywhere; }
    @keyframes paceline-live { 50% { opacity: .35; } }
    @media (prefers-reduced-motion: reduce) { #live::before { animation: none !important; } }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  const text = document.createElement("span");
  const command = document.createElement("code");
  const age = document.createElement("span");
  age.setAttribute("aria-hidden", "true"); // nobody wants to hear it every second

  function span(seconds) {
    if (seconds < 60) return `${Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
    return `${Math.round(seconds / 3600)} h`;
  }

  function set(element, words) {
    if (element.textContent !== words) element.textContent = words; // unchanged, it is not read out
  }

  function show() {
    if (!status) return;
    if (!text.isConnected) line.replaceChildren(text, command, age);
    line.dataset.state = status.state;
    line.dataset.link = link;
    const links = { lost: "No connection to the server: trying again. ", ended: "" };
    set(text, (links[link] ?? "") + status.text + (status.command ? ": " : ""));
    set(command, status.command);
    const words = [];
    if (link === "ended") words.push("no longer updated");
    else if (typeof paceline !== "undefined") {
      words.push(`updated ${span((performance.now() - updated) / 1000)} ago`);
      if (status.state === "running" && status.pause > 1.5) {
        words.push(`every ${span(status.pause)}, to leave the race its time`);
      }
    }
    set(age, words.map((one) => ` · ${one}`).join(""));
  }

  // A table of which some rows are new: old ones are named as [first, how many].
  function assembled(before, steps) {
    const [first, ...others] = before.split("<tr");
    const rows = [...(first ? [first] : []), ...others.map((row) => "<tr" + row)];
    return steps.map((step) => (typeof step === "string" ? step : rows.slice(step[0], step[0] + step[1]).join(""))).join("");
  }

  function take({ fragments = {}, data = {}, rows = {}, more = {} }) {
    for (const [name, steps] of Object.entries(rows)) fragments[name] = assembled(held.fragments[name], steps);
    for (const [name, added] of Object.entries(more)) {
      data[name] = Object.fromEntries(
        Object.entries(held.data[name]).map(([column, old]) => [column, old.concat(added[column])]),
      );
    }
    Object.assign(held.fragments, fragments);
    Object.assign(held.data, data);
    paceline.update({ fragments, data });
  }

  function hear(name, act) {
    source.addEventListener(name, (event) => {
      heard = performance.now();
      act(event);
    });
  }

  function close(how) {
    source?.close();
    source = null;
    link = how;
    show();
  }

  function connect() {
    source = new EventSource(`events?since=${encodeURIComponent(place)}`);
    heard = performance.now();
    hear("update", (event) => {
      updated = heard;
      take(JSON.parse(event.data));
      place = event.lastEventId;
    });
    hear("status", (event) => {
      status = JSON.parse(event.data);
      link = "there";
      show();
    });
    hear("bye", (event) => {
      status = JSON.parse(event.data);
      close("ended");
    });
    hear("reload", () => {
      close("lost");
      location.reload();
    });
    source.onerror = () => close("lost");
  }

  setInterval(() => {
    if (link === "ended") return;
    if (source && performance.now() - heard > SILENT_MS) close("lost");
    if (!source && performance.now() - heard > AGAIN_MS) connect();
    show();
  }, 1000);
  connect();
})();
