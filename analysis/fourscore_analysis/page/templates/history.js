// A click on a small plot shows its launches, each a link to its record.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  const timeText = (seconds) => {
    const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([one]) => seconds >= one * 0.9995) || [1e-9, "ns"];
    return `${Number((seconds / size).toPrecision(4))} ${unit}`;
  };

  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const linkTo = (point, [campaign, number, middle, low, high, file]) => {
    const link = element("a", timeText(middle));
    const path = [...data.records.split("/"), data.campaigns[campaign], file ?? `${point}-${number}.json`];
    link.href = path.map(encodeURIComponent).join("/");
    link.title = `samples from ${timeText(low)} to ${timeText(high)}; opens the record`;
    return link;
  };

  const tableOf = (point, series) => {
    const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of ["build", "first measured", "median", "launches"]) head.append(element("th", name, name === "median" ? "number" : ""));
    for (let i = series.builds.length - 1; i >= 0; i--) { // the newest first
      const [name, day] = data.builds[series.builds[i]], row = body.insertRow();
      row.append(element("td", name), element("td", day), element("td", timeText(median(series.launches[i].map((one) => one[2]))), "number"));
      const cell = element("td", undefined, "wrap");
      cell.append(...series.launches[i].flatMap((one) => [linkTo(point, one), " "]));
      row.append(cell);
    }
    const scroll = element("div", undefined, "scroll");
    scroll.append(table);
    return scroll;
  };

  const fill = (details) => {
    const into = details.querySelector(".launches"), panel = data.panels[Number(details.dataset.panel)];
    if (into.childElementCount && !into.querySelector("noscript")) return;
    into.replaceChildren(...panel.series.flatMap((series) => [
      element("p", `${series.place}: ${series.builds.length} build(s), noise ${(100 * series.noise).toFixed(1)} %${series.bimodal ? ", bimodal" : ""}`, "soft"),
      tableOf(panel.point, series),
    ]));
  };

  for (const details of document.querySelectorAll("details.panel"))
    details.addEventListener("toggle", () => { if (details.open) fill(details); });

  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.matches("details.panel")) target.open = true;
  };
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
