// A chart of lines by uPlot, in which one zooms, points and goes from point to point by keys.
//
// pointChart(host, { describe(point), open(point), zoomed(range or null) }) returns
//   draw({ x: {label, log, text, whole}, y: {...}, lines: [{ name, colour, dash, glyph, points: [{ x, y, low, high }] }] }, range)
//   zoom(factor), reset(), and range(), which is [x from, x to, y from, y to], or null where all is shown.
// Colours may be variables of the style sheet.
const pointChart = (host, { describe, open, zoomed }) => {
  const REACH = 26; // pixels: points are smaller than a finger
  const HEIGHT = 380, NARROW_HEIGHT = 320;
  let plot = null, shown = null, flat = [], at = -1, range = null;

  const made = (name, className) => {
    const one = document.createElement(name);
    one.className = className;
    return one;
  };
  const tip = made("div", "chart-tip"), ring = made("div", "chart-ring"), probe = made("span", "");
  tip.hidden = ring.hidden = probe.hidden = true;
  host.append(tip, probe);

  const colourOf = (colour) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };

  const ends = (values, log) => {
    if (!values.length) return log ? [1, 10] : [0, 1];
    const low = Math.min(...values), high = Math.max(...values);
    return log ? [low / 1.2, high * 1.2] : [Math.min(0, low), high * 1.06 || 1];
  };

  // 1, 2 and 5 times powers of ten; even steps where a logarithmic axis spans less than a factor of five.
  const ticksOf = (low, high, log, most) => {
    const found = [];
    if (log && high / low >= 5) {
      for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
        for (const digit of high / low > 300 ? [1] : [1, 2, 5]) found.push(digit * 10 ** power);
    } else {
      const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
      for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Number(value.toPrecision(12)));
    }
    return found.filter((value) => value >= low && value <= high);
  };

  // The measured values themselves, while they have room.
  const measuredTicks = (values, low, high, most) => {
    const inside = values.filter((value) => value >= low && value <= high), step = Math.ceil(inside.length / most);
    return inside.filter((_, number) => number % step === 0);
  };

  const axis = (side, xs) => ({
    label: side.label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    size: xs ? 34 : 62, gap: 4, stroke: colourOf("var(--ink)"),
    grid: { stroke: colourOf("var(--grid)"), width: 1 }, ticks: { stroke: colourOf("var(--grey)"), width: 1, size: 4 },
    splits: (_, __, low, high) => (xs && side.whole ? measuredTicks(xs, low, high, 8) : ticksOf(low, high, side.log, side.log ? 8 : 5)),
    filter: (_, splits) => splits, values: (_, splits) => splits.map(side.text),
  });

  const scale = (side, values, number) => ({
    time: false, distr: side.log ? 3 : 1,
    range: () => (range ? [range[2 * number], range[2 * number + 1]] : ends(values, side.log)),
  });

  const place = (point) => [plot.valToPos(point.x, "x"), plot.valToPos(point.y, "y")];
  const inside = (point) => {
    const [left, top] = place(point);
    return left >= 0 && top >= 0 && left <= plot.over.clientWidth && top <= plot.over.clientHeight;
  };

  const point = (number) => {
    at = number;
    tip.hidden = ring.hidden = number < 0;
    if (number < 0) return;
    const one = flat[number], [left, top] = place(one), offset = plot.over.offsetLeft, room = host.clientWidth;
    ring.style.left = `${left}px`;
    ring.style.top = `${top}px`;
    tip.textContent = describe(one);
    tip.style.left = `${Math.max(4, Math.min(left + offset - tip.offsetWidth / 2, room - tip.offsetWidth - 4))}px`;
    const above = top + plot.over.offsetTop - tip.offsetHeight - 12;
    tip.style.top = `${above > 0 ? above : top + plot.over.offsetTop + 14}px`;
  };

  const nearest = (left, top) => {
    let best = -1, least = REACH;
    flat.forEach((one, number) => {
      const [x, y] = place(one), far = Math.hypot(x - left, y - top);
      if (far < least && inside(one)) [best, least] = [number, far];
    });
    return best;
  };

  const marks = (u) => { // ranges and glyphs: lines of one colour have different ones
    const draw = u.ctx;
    draw.save();
    draw.beginPath();
    draw.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    draw.clip();
    draw.lineWidth = devicePixelRatio;
    draw.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
    [draw.textAlign, draw.textBaseline] = ["center", "middle"];
    for (const line of shown.lines) {
      draw.strokeStyle = draw.fillStyle = colourOf(line.colour);
      draw.beginPath();
      for (const one of line.points) {
        if (!(one.low < one.high)) continue;
        const x = u.valToPos(one.x, "x", true);
        draw.moveTo(x, u.valToPos(one.low, "y", true));
        draw.lineTo(x, u.valToPos(one.high, "y", true));
      }
      draw.stroke();
      for (const one of line.points) draw.fillText(line.glyph, u.valToPos(one.x, "x", true), u.valToPos(one.y, "y", true));
    }
    draw.restore();
  };

  const setRange = (next) => {
    range = next;
    const [x, y] = [0, 1].map((number) => (number ? plot.scales.y : plot.scales.x).range());
    plot.batch(() => {
      plot.setScale("x", { min: x[0], max: x[1] });
      plot.setScale("y", { min: y[0], max: y[1] });
    });
    point(at >= 0 && inside(flat[at]) ? at : -1);
    zoomed(range);
  };

  const current = () => [plot.scales.x.min, plot.scales.x.max, plot.scales.y.min, plot.scales.y.max];

  const selected = (u) => { // by dragging
    const { left, top, width, height } = u.select;
    if (width < 8 && height < 8) return;
    const [x, y] = [width >= 8, height >= 8], now = current();
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    setRange([
      x ? u.posToVal(left, "x") : now[0], x ? u.posToVal(left + width, "x") : now[1],
      y ? u.posToVal(top + height, "y") : now[2], y ? u.posToVal(top, "y") : now[3],
    ]);
  };

  const zoom = (factor) => {
    const middle = at >= 0 ? [flat[at].x, flat[at].y] : null;
    setRange([shown.x, shown.y].flatMap(({ log }, number) => {
      const to = log ? Math.log : (value) => value, from = log ? Math.exp : (value) => value;
      const [low, high] = current().slice(2 * number, 2 * number + 2).map(to);
      const centre = middle ? to(middle[number]) : (low + high) / 2;
      return [from(centre + (low - centre) / factor), from(centre + (high - centre) / factor)];
    }));
  };

  const build = () => {
    const focused = at;
    plot?.destroy();
    flat = shown.lines.flatMap((line, number) => line.points.map((one) => ({ ...one, line: number })));
    const xs = [...new Set(flat.map((one) => one.x))].sort((a, b) => a - b), column = new Map(xs.map((x, i) => [x, i]));
    const ys = shown.lines.map((line) => {
      const values = xs.map(() => null);
      for (const one of line.points) values[column.get(one.x)] = one.y;
      return values;
    });
    const reach = flat.flatMap((one) => [one.y, one.low ?? one.y, one.high ?? one.y]);
    plot = new uPlot({
      width: host.clientWidth, height: host.clientWidth < 600 ? NARROW_HEIGHT : HEIGHT,
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, uni: 24, setScale: false } },
      scales: { x: scale(shown.x, xs, 0), y: scale(shown.y, reach, 1) },
      axes: [axis(shown.x, xs), axis(shown.y)],
      series: [{}, ...shown.lines.map((line) => ({
        label: line.name, stroke: colourOf(line.colour), width: 1.6, dash: line.dash, spanGaps: true, points: { show: false },
      }))],
      hooks: { draw: [marks], setSelect: [selected] },
    }, [xs, ...ys], host);
    plot.over.append(ring);
    plot.over.addEventListener("mousemove", (event) => {
      const found = nearest(event.offsetX, event.offsetY);
      plot.over.style.cursor = found < 0 ? "crosshair" : "pointer";
      if (found !== at) point(found);
    });
    plot.over.addEventListener("mouseleave", () => { if (document.activeElement !== host) point(-1); });
    plot.over.addEventListener("click", (event) => {
      const found = nearest(event.offsetX, event.offsetY);
      point(found);
      if (found >= 0) open(flat[found]);
    });
    plot.over.addEventListener("dblclick", () => setRange(null));
    point(focused < flat.length && focused >= 0 && inside(flat[focused]) ? focused : -1);
  };

  const step = (by) => { // to the next point that is in sight
    for (let number = at + by; number >= 0 && number < flat.length; number += by)
      if (inside(flat[number])) return point(number);
  };
  const otherLine = (by) => {
    const from = flat[at];
    if (!from) return step(1);
    const others = flat.map((one, number) => [one, number]).filter(([one]) => (one.line - from.line) * by > 0 && inside(one));
    others.sort(([one], [other]) => Math.abs(one.line - from.line) - Math.abs(other.line - from.line)
      || Math.abs(one.x - from.x) - Math.abs(other.x - from.x));
    if (others.length) point(others[0][1]);
  };
  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => otherLine(1), ArrowUp: () => otherLine(-1),
    Enter: () => { if (at >= 0) open(flat[at]); }, Escape: () => point(-1),
    "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), "0": () => setRange(null),
  };
  host.addEventListener("keydown", (event) => {
    if (event.target !== host || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key] || !flat.length) return;
    event.preventDefault();
    keys[event.key]();
  });

  new ResizeObserver(() => {
    if (!plot || Math.abs(plot.width - host.clientWidth) < 1 || !host.clientWidth) return;
    plot.setSize({ width: host.clientWidth, height: host.clientWidth < 600 ? NARROW_HEIGHT : HEIGHT });
  }).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (plot) build(); });

  return {
    draw: (what, zoomedTo = null) => {
      [shown, range, at] = [what, zoomedTo, -1];
      build();
    },
    zoom, reset: () => setRange(null), range: () => range, count: () => flat.length,
  };
};
