"use strict";
// Sorting: a click on a heading sorts its table by that column, a second click the other way round. A cell counts by
// the number it begins with, in its unit; a shape by its elements; what has no number comes last.
(() => {
  const units = {
    "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "%": 1e-2,
    "B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40,
  };
  const prefixes = { "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12 };

  const unitOf = (text) => {
    const found = text.match(/(?:^|\s)([kMGT]?)(FLOP\/s|B\/s)(?:\s|$)/);
    if (found) return prefixes[found[1]] || 1;
    const word = text.split(/[\s,(]+/).find((one) => one in units);
    return word ? units[word] : 1;
  };

  const numberOf = (text) => {
    const cube = text.match(/^(\d+)³$/);
    if (cube) return Number(cube[1]) ** 3;
    if (/^\d+(×\d+)+$/.test(text)) return text.split("×").reduce((product, one) => product * Number(one), 1);
    const found = text.match(/^[×≈]?\s*(-?[\d,]*\.?\d+)/);
    return found ? Number(found[1].replaceAll(",", "")) * unitOf(text) : NaN;
  };

  const textOf = (row, column) => (row.cells[column]?.textContent || "").trim().replace(/\s+/g, " ");

  const compare = (numeric, sign) => (one, other) => {
    if (!numeric) return sign * one.text.localeCompare(other.text, "en", { numeric: true });
    if (Number.isNaN(one.number) || Number.isNaN(other.number)) return Number.isNaN(one.number) - Number.isNaN(other.number);
    return sign * (one.number - other.number);
  };

  const sort = (heading) => {
    const table = heading.closest("table"), body = table.tBodies[0], column = heading.cellIndex;
    const falling = heading.getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].map((row) => {
      const text = textOf(row, column);
      return { row, text, number: numberOf(text) };
    });
    const numeric = heading.classList.contains("number") || rows.every((one) => !Number.isNaN(one.number));
    rows.sort(compare(numeric, falling ? -1 : 1));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    table.classList.add("sorted");
    body.append(...rows.map((one) => one.row));
  };

  for (const heading of document.querySelectorAll("table > thead th")) {
    heading.tabIndex = 0;
    heading.addEventListener("click", () => sort(heading));
    heading.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(heading);
    });
  }
})();

// What a mark of a figure says: under the mouse at once, under a finger for the nearest mark.
(() => {
  const tip = document.getElementById("tip");
  const REACH = 28; // pixels: marks are smaller than a finger
  let shown = null;

  const says = (mark) => {
    const title = mark.querySelector(":scope > title");
    if (title) { // the browser would show it a second time, later
      mark.dataset.says = title.textContent;
      mark.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    return mark.dataset.says || "";
  };

  const hide = () => {
    tip.hidden = true;
    shown?.classList.remove("shown");
    shown = null;
  };

  const show = (mark) => {
    if (mark === shown) return;
    hide();
    shown = mark;
    mark.classList.add("shown");
    tip.textContent = says(mark);
    tip.hidden = false;
    const box = mark.getBoundingClientRect(), room = document.documentElement.clientWidth;
    const left = Math.max(4, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, room - tip.offsetWidth - 4));
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(above > 0 ? above : box.bottom + 8) + window.scrollY}px`;
  };

  const distance = (box, x, y) =>
    Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));

  const nearest = (figure, x, y) => {
    let best = null, least = REACH;
    for (const mark of figure.querySelectorAll(".mark")) {
      const far = distance(mark.getBoundingClientRect(), x, y);
      if (far < least) [best, least] = [mark, far];
    }
    return best;
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const mark = event.target.closest?.(".mark");
    if (mark) show(mark); else hide();
  });
  document.addEventListener("click", (event) => {
    const figure = event.target.closest?.("svg.plot");
    const mark = figure && (event.target.closest(".mark") || nearest(figure, event.clientX, event.clientY));
    if (mark) show(mark); else hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();

// What scrolls sideways can be scrolled by keys.
(() => {
  const boxes = [...document.querySelectorAll(".scroll, figure")];
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.scrollWidth > target.clientWidth && !target.querySelector("[tabindex], a, button")) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
  });
  for (const box of boxes) observer.observe(box);
})();
