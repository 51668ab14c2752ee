// Filters, a table, a chart and details of the points of a report. What is chosen stands in the address.
(() => {
  const section = document.getElementById("explore");
  if (!section) return;
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const FIRST_ROWS = 25, MOST_NAMES = 24, MOST_VALUES = 12;

  const lacks = (value) => value?.constructor === Object && !Object.keys(value).length;
  const valueOf = (column, row) => { // page/explorer.py, packed()
    if (Array.isArray(column)) return column[0] ? column[0][column[1][row]] : column[1][row];
    const parts = Object.entries(column).map(([key, part]) => [key, Array.isArray(part) ? valueOf(part, row) : { of: valueOf(part, row) }]);
    return Object.fromEntries(parts.filter(([, value]) => !lacks(value)).map(([key, value]) => [key, value?.of ?? value]));
  };
  const points = Array.from({ length: data.count }, (_, row) => valueOf(data.points, row));

  const digits = (value) => Number(value.toPrecision(3)).toString();
  const timeText = (seconds) => {
    if (seconds === null) return "–";
    const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([one]) => seconds >= one * 0.9995) || [1e-9, "ns"];
    return `${digits(seconds / size)} ${unit}`;
  };
  const percentText = (share) => (share === null ? "–" : `${Math.round(100 * share)} %`);
  const numberText = (value) => (value === null ? "–" : digits(value));
  const countText = (count, word, many = `${word}s`) => `${count} ${count === 1 ? word : many}`;
  const powerText = (value) => (value >= 1e4 && Number.isInteger(Math.log2(value)) ? `2^${Math.log2(value)}` : value.toLocaleString("en"));

  const element = (name, { text, className, ...rest } = {}, ...inside) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    for (const [key, value] of Object.entries(rest)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const find = (name) => document.getElementById(`explore-${name}`);

  const X = {
    ranks: { label: "ranks", of: (p) => p.ranks, log: true, whole: true, text: powerText, apart: ["shape_text", "nodes_text"] },
    nodes: { label: "nodes", of: (p) => p.nodes, log: true, whole: true, text: powerText, apart: ["shape_text", "ranks_per_node"] },
    size: { label: "elements", of: (p) => p.elements, log: true, whole: true, text: powerText, apart: ["ranks", "nodes_text"] },
  };
  const Y = {
    time: { label: "time", of: (p) => p.time_s, ends: (p) => [p.low_s, p.high_s], log: true, text: timeText },
    gflops: { label: "GFLOP/s", of: (p) => p.gflops, log: true, text: numberText,
      ends: (p) => [p.gflops * p.time_s / p.high_s, p.gflops * p.time_s / p.low_s] },
    exchange: { label: "share of exchange", of: (p) => p.exchange_share, text: percentText },
    efficiency: { label: "efficiency (against the fewest ranks)", of: (p) => p.efficiency, text: percentText },
  };
  const has = (key) => key in data.facets;
  const USUAL_X = has("ranks") ? "ranks" : has("nodes_text") ? "nodes" : has("shape_text") ? "size" : "ranks"; // what differs
  const COLUMNS = [ // heading, value to sort by, text, whether a number
    ["method", (p) => p.label, (p) => p.label],
    ["shape", (p) => p.elements, (p) => p.shape_text],
    ["ranks", (p) => p.ranks, (p) => p.ranks, true],
    ["nodes", (p) => p.nodes, (p) => p.nodes_text, true, "nodes_text"],
    ["time", (p) => p.time_s, (p) => (p.time_s === null ? p.status : timeText(p.time_s)), true],
    ["launches from–to", (p) => p.low_s, (p) => (p.low_s < p.high_s ? `${timeText(p.low_s)}–${timeText(p.high_s)}` : "–"), true],
    ["GFLOP/s", (p) => p.gflops, (p) => numberText(p.gflops), true],
    ["exchange", (p) => p.exchange_share, (p) => percentText(p.exchange_share), true],
    ["flags", (p) => p.flags.join(" "), (p) => p.flags.join(", ")],
    ["contract", (p) => p.contract_text, (p) => p.contract_text, false, "contract_text"],
    ["machine", (p) => p.machine, (p) => p.machine, false, "machine"],
    ["campaign", (p) => p.campaign, (p) => p.campaign, false, "campaign"],
  ].filter(([, , , , facet]) => !facet || has(facet));

  const valuesOf = (p, key) => (key === "flags" ? (p.flags.length ? p.flags : ["none"]) : [String(p[key])]);
  const words = points.map((p) => [p.label, p.shape_text, `${p.ranks} ranks`, p.contract_text, p.machine, p.build, p.campaign,
    p.status, ...p.flags, p.json.point_id, ...p.json.reasons].join(" ").toLowerCase());

  const names = []; // of each point in the address: its id, and which of those that share it
  for (const { json } of points) names.push(`${json.point_id}.${names.filter((one) => one.startsWith(`${json.point_id}.`)).length}`);

  const start = () => ({
    chosen: Object.fromEntries(Object.keys(data.facets).map((key) => [key, new Set()])),
    q: "", x: USUAL_X, y: "time", sort: null, falling: false, zoom: null, open: null,
  });
  let state = start(), all = false, here = [];

  // --- the address ---
  const written = () => {
    const found = new URLSearchParams(), usual = start();
    for (const [key, values] of Object.entries(state.chosen)) for (const value of values) found.append(key, value);
    for (const key of ["q", "x", "y"]) if (state[key] !== usual[key]) found.set(key, state[key]);
    if (state.sort !== null) found.set("sort", (state.falling ? "-" : "") + COLUMNS[state.sort][0]);
    if (state.zoom) found.set("zoom", state.zoom.map((value) => Number(value.toPrecision(5))).join(","));
    if (state.open !== null) found.set("open", names[state.open]);
    return found.toString();
  };
  const read = () => {
    const [place, text] = location.hash.slice(1).split("?"), found = new URLSearchParams(text || "");
    if (place !== "explore" || text === undefined) return false;
    state = start();
    for (const key of Object.keys(state.chosen)) for (const value of found.getAll(key)) state.chosen[key].add(value);
    state.q = found.get("q") || "";
    if (found.get("x") in X) state.x = found.get("x");
    if (found.get("y") in Y) state.y = found.get("y");
    const sort = found.get("sort") || "", column = COLUMNS.findIndex(([name]) => name === sort.replace(/^-/, ""));
    if (column >= 0) [state.sort, state.falling] = [column, sort.startsWith("-")];
    const zoom = (found.get("zoom") || "").split(",").map(Number);
    if (zoom.length === 4 && zoom.every(Number.isFinite) && zoom[0] < zoom[1] && zoom[2] < zoom[3]) state.zoom = zoom;
    if (names.includes(found.get("open"))) state.open = names.indexOf(found.get("open"));
    return true;
  };
  const write = () => history.replaceState(null, "", `#explore?${written()}`);

  // --- filters ---
  const passes = (number, but) => words[number].includes(state.q.toLowerCase()) && Object.entries(state.chosen).every(
    ([key, values]) => key === but || !values.size || valuesOf(points[number], key).some((value) => values.has(value)));

  const boxes = [];
  const makeFilters = () => {
    for (const [key, name] of Object.entries(data.facets)) {
      const values = [...new Set(points.flatMap((p) => valuesOf(p, key)))];
      values.sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
      const group = element("fieldset", { className: values.length > MOST_VALUES ? "many" : "" }, element("legend", { text: name }));
      const list = element("div", { className: "values" });
      for (const value of values) {
        const box = element("input", { type: "checkbox" }), count = element("small");
        box.addEventListener("change", () => {
          if (box.checked) state.chosen[key].add(value); else state.chosen[key].delete(value);
          changed();
        });
        list.append(element("label", {}, box, ` ${value} `, count));
        boxes.push({ key, value, box, count });
      }
      group.append(list);
      find("facets").append(group);
    }
  };
  const showFilters = () => {
    const counts = Object.fromEntries(Object.keys(data.facets).map((key) => {
      const found = new Map();
      points.forEach((p, number) => {
        if (passes(number, key)) for (const value of valuesOf(p, key)) found.set(value, (found.get(value) || 0) + 1);
      });
      return [key, found];
    }));
    for (const { key, value, box, count } of boxes) {
      box.checked = state.chosen[key].has(value);
      count.textContent = `(${counts[key].get(value) || 0})`;
      box.parentElement.classList.toggle("absent", !counts[key].get(value));
    }
    find("find").value = state.q;
    find("x").value = state.x;
    find("y").value = state.y;
  };

  // --- the table ---
  const headings = COLUMNS.map(([name, , , number], column) => {
    const button = element("button", { type: "button", text: name });
    button.addEventListener("click", () => {
      state.falling = state.sort === column && !state.falling;
      state.sort = column;
      showTable();
      write();
    });
    return element("th", { className: number ? "number" : "" }, button);
  });
  const ordered = () => {
    if (state.sort === null) return here;
    const value = COLUMNS[state.sort][1], sign = state.falling ? -1 : 1;
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
    return [...here].sort((one, other) => {
      const [a, b] = [value(points[one]), value(points[other])];
      return a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b);
    });
  };
  const rowOf = (number) => {
    const p = points[number], row = element("tr");
    COLUMNS.forEach(([, , text, isNumber], column) => {
      const said = String(text(p)), cell = element("td", { className: isNumber ? "number" : "" });
      if (column) cell.textContent = said;
      else cell.append(element("button", { type: "button", className: "opens", text: said }));
      row.append(cell);
    });
    row.addEventListener("click", () => show(number));
    return row;
  };
  const showTable = () => {
    headings.forEach((heading, column) => {
      if (state.sort === column) heading.setAttribute("aria-sort", state.falling ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    const rows = ordered();
    find("rows").replaceChildren(...rows.slice(0, all ? rows.length : FIRST_ROWS).map(rowOf));
    find("more").hidden = all || rows.length <= FIRST_ROWS;
    find("more").textContent = `Show all ${rows.length} rows`;
  };

  // --- the chart ---
  const lines = () => {
    const x = X[state.x], y = Y[state.y], found = new Map();
    for (const number of here) {
      const p = points[number], value = y.of(p);
      if (value === null || (y.log && value <= 0)) continue;
      const key = JSON.stringify([p.label, p.contract_text, p.machine, p.build, p.campaign, ...x.apart.map((one) => p[one])]);
      if (!found.has(key)) found.set(key, { name: p.label, colour: p.colour, dash: p.dash, glyph: p.glyph, points: [] });
      const [low, high] = y.ends?.(p) || [];
      found.get(key).points.push({ x: x.of(p), y: value, low, high, number });
    }
    for (const line of found.values()) line.points.sort((one, other) => one.x - other.x);
    return [...found.values()];
  };
  const launchesText = (p) => p.launches.filter((one) => one.length > 2).map((one) => timeText(one[2])).join(", ");
  const describe = ({ number }) => {
    const p = points[number];
    return [
      p.label, `${p.shape_text} · ${countText(p.ranks, "rank")}${has("nodes_text") ? ` · nodes: ${p.nodes_text}` : ""}`,
      p.contract_text === "–" ? "" : p.contract_text,
      `min ${timeText(p.low_s)}, median ${timeText(p.time_s)}, max ${timeText(p.high_s)}`,
      `launches: ${launchesText(p)}`,
      `${numberText(p.gflops)} GFLOP/s · exchange ${percentText(p.exchange_share)} · efficiency ${percentText(p.efficiency)}`,
      p.flags.length ? `flags: ${p.flags.join(", ")}` : "",
    ].filter(Boolean).join("\n");
  };
  const chart = pointChart(find("chart"), {
    describe: (one) => {
      const text = describe(one);
      if (document.activeElement === find("chart")) find("said").textContent = text;
      return text;
    },
    open: ({ number }) => show(number),
    zoomed: (range) => { state.zoom = range; write(); },
  });
  const showChart = () => {
    const drawn = lines();
    chart.draw({ x: X[state.x], y: Y[state.y], lines: drawn }, state.zoom);
    const methods = [...new Map(drawn.map((line) => [line.name, line])).values()];
    const items = methods.slice(0, MOST_NAMES).map((line) => {
      const glyph = element("span", { text: line.glyph, "aria-hidden": "true" });
      glyph.style.color = line.colour;
      return element("li", {}, glyph, ` ${line.name}`);
    });
    if (methods.length > MOST_NAMES) items.push(element("li", { text: `and ${methods.length - MOST_NAMES} more` }));
    find("legend").replaceChildren(...items);
    const without = here.length - chart.count();
    find("drawn").textContent = `${countText(chart.count(), "point")} in the chart, on ${countText(drawn.length, "line")}.`
      + (without ? ` ${without} without a ${Y[state.y].label.split(" (")[0]}.` : "");
  };

  // --- details of a point ---
  const dialog = find("point");
  const recordOf = (p, [name]) => {
    const file = typeof name === "number" ? `${p.json.point_id}-${String(name).padStart(3, "0")}.json` : name;
    return [...data.records.split("/"), p.campaign, file];
  };
  const phaseBars = (p) => {
    const phases = Object.entries(p.json.phases_s), total = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
    if (!(total > 0)) return [];
    const rows = phases.filter(([, seconds]) => seconds > 0).map(([phase, seconds]) => {
      const bar = element("span", { className: "phase" });
      bar.style.width = `${100 * seconds / total}%`;
      bar.style.background = data.phases[phase] || data.phases.other;
      return element("tr", {}, element("th", { scope: "row", text: phase }), element("td", { className: "bars" }, bar),
        element("td", { className: "number", text: timeText(seconds) }), element("td", { className: "number", text: percentText(seconds / total) }));
    });
    return [element("h3", { text: "Phases of the slowest rank" }), element("table", { className: "phases" }, element("tbody", {}, ...rows))];
  };
  const SVG = "http://www.w3.org/2000/svg";
  const shape = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const sampleStrip = (p) => {
    const launches = p.launches.filter((one) => one.length > 2);
    const values = launches.map(([, , median, samples]) => samples.map((one) => one * median / 1e4));
    if (!values.length) return [];
    const low = Math.min(...values.flat()), high = Math.max(...values.flat()), width = 600, step = 16;
    const x = (value) => 8 + (width - 16) * (high > low ? (value - low) / (high - low) : 0.5);
    const svg = shape("svg", { viewBox: `0 0 ${width} ${step * values.length + 4}`, role: "img", class: "strip",
      "aria-label": `samples of ${countText(values.length, "launch", "launches")}, from ${timeText(low)} to ${timeText(high)}` });
    values.forEach((samples, row) => {
      const y = step * row + 10;
      svg.append(shape("line", { x1: 8, x2: width - 8, y1: y, y2: y, class: "ground" }));
      for (const value of samples) svg.append(shape("circle", { cx: x(value).toFixed(1), cy: y, r: 3.2 }));
      svg.append(shape("line", { x1: x(launches[row][2]), x2: x(launches[row][2]), y1: y - 7, y2: y + 7, class: "median" }));
    });
    const kept = data.samples ? ` Of a launch with more than ${data.samples}, the page has ${data.samples} order statistics.` : "";
    return [element("h3", { text: "Samples" }), svg,
      element("p", { className: "soft", text: `A row a launch, from ${timeText(low)} to ${timeText(high)}; the line is its median.${kept}` })];
  };
  const recordLinks = (p) => [element("h3", { text: "Records" }), element("ul", {}, ...p.launches.map((launch) => {
    const path = recordOf(p, launch), link = element("a", { text: path.slice(-2).join("/"), href: path.map(encodeURIComponent).join("/") });
    return element("li", {}, link, launch.length > 2 ? `: ${timeText(launch[2])}` : `: ${launch[1]}`);
  }))];
  const fill = (p) => {
    const facts = [p.contract_text === "–" ? "" : p.contract_text, data.common, p.machine, `build ${p.build}`, p.campaign,
      p.flags.length ? `flags: ${p.flags.join(", ")}` : "no flags"].filter(Boolean).join(" · ");
    const time = p.time_s === null ? `No time: ${p.status}. ${p.json.reasons.join("; ")}`
      : `Median ${timeText(p.time_s)}, launches from ${timeText(p.low_s)} to ${timeText(p.high_s)}, ${numberText(p.gflops)} GFLOP/s.`;
    const records = p.launches.map((launch) => `records/${recordOf(p, launch).slice(-2).join("/")}`);
    find("point-title").textContent = `${p.label} · ${p.shape_text} · ${countText(p.ranks, "rank")}`;
    find("point-body").replaceChildren(
      element("p", { text: time }), element("p", { className: "soft", text: facts }),
      ...phaseBars(p), ...sampleStrip(p),
      element("h3", { text: "To measure it again" }),
      p.command ? element("pre", { tabindex: "0", className: "command", text: p.command })
        : element("p", { text: "fft_bench alone cannot: another program measured it, or its machine is simulated." }),
      ...recordLinks(p),
      element("details", {}, element("summary", { text: "As JSON" }),
        element("pre", { tabindex: "0", text: JSON.stringify({ ...p.json, records }, null, 1) })));
  };
  const show = (number) => {
    state.open = number;
    fill(points[number]);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    write();
  };
  dialog.addEventListener("close", () => { state.open = null; write(); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // --- together ---
  const showAll = () => {
    here = points.map((_, number) => number).filter((number) => passes(number));
    showFilters();
    showTable();
    showChart();
    find("count").textContent = `${here.length} of ${countText(points.length, "point")} shown.`;
  };
  const changed = () => {
    [state.zoom, all] = [null, false];
    showAll();
    write();
  };
  for (const [name, choices] of [["x", X], ["y", Y]]) {
    for (const [key, { label }] of Object.entries(choices)) find(name).append(element("option", { value: key, text: label }));
    find(name).addEventListener("change", () => { state[name] = find(name).value; changed(); });
  }
  find("find").addEventListener("input", () => { state.q = find("find").value; changed(); });
  find("clear").addEventListener("click", () => { const { x, y } = state; state = { ...start(), x, y }; changed(); });
  find("more").addEventListener("click", () => { all = true; showTable(); });
  find("in").addEventListener("click", () => chart.zoom(2));
  find("out").addEventListener("click", () => chart.zoom(0.5));
  find("reset").addEventListener("click", () => chart.reset());
  find("head").append(...headings);
  makeFilters();
  const restore = () => {
    const asked = read();
    showAll();
    if (state.open !== null) show(state.open);
    else if (dialog.open) dialog.close();
    if (asked) section.scrollIntoView();
  };
  window.addEventListener("hashchange", () => { if (location.hash.startsWith("#explore?")) restore(); });
  find("filters").open = innerWidth >= 700;
  for (const one of document.querySelectorAll("[data-explorer]")) one.hidden = false;
  restore();
})();
