"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const REACH = 22; // pixels between the pointer and a point it means
  const data = JSON.parse(document.getElementById("points").textContent);
  const order = []; // from the rank of a row, the most outlying first, to its circle
  data.rank.forEach((rank, place) => { order[rank] = place; });
  const plots = [...document.querySelectorAll("svg.points")].map(plot);
  const lines = new Map(
    [...document.querySelectorAll("#outliers tbody tr")].map((tr) => [Number(tr.dataset.row), tr])
  );

  function describe(i) {
    const words = [
      `score distance ${data.sd[i]} (cut-off ${data.cutoffs[0]})`,
      `orthogonal distance ${data.od[i]} (cut-off ${data.cutoffs[1]})`,
      data.kinds[data.kind[i]],
    ];
    const blame = data.blame[data.row[i]];
    if (blame) words.push(`columns: ${blame}`);
    return [`row ${data.ids[i]}`, ...words];
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text; // text from the data never becomes markup
    return made;
  }

  function plot(svg) {
    const circles = [...svg.querySelectorAll(".dots circle")];
    const figure = svg.closest("figure");
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    tip.hidden = true;
    figure.append(tip);
    const ring = document.createElementNS(SVG, "circle");
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", 8);
    ring.style.display = "none";
    svg.append(ring);
    const self = { svg, circles, tip, ring, x: [], y: [], current: -1 };
    read(self);

    svg.addEventListener("pointermove", (event) => point(self, event));
    svg.addEventListener("pointerdown", (event) => point(self, event));
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") clear();
    });
    svg.addEventListener("click", (event) => {
      const i = nearest(self, event);
      if (i >= 0) focus(self, i);
    });
    svg.addEventListener("focusin", (event) => {
      const i = circles.indexOf(event.target);
      if (i >= 0) show(self, i);
    });
    svg.addEventListener("focusout", clear);
    svg.addEventListener("keydown", (event) => key(self, event));
    if (circles.length) name(circles[order[0]], order[0], 0);
    return self;
  }

  function read(self) {
    self.x = self.circles.map((c) => c.cx.baseVal.value);
    self.y = self.circles.map((c) => c.cy.baseVal.value);
  }

  function name(circle, i, tabindex) {
    circle.setAttribute("tabindex", tabindex);
    circle.setAttribute("role", "img");
    circle.setAttribute("aria-label", describe(i).join(", "));
  }

  // One point of a picture is in the order of Tab; arrow keys move that place.
  function focus(self, i) {
    for (const other of self.svg.querySelectorAll("circle[tabindex='0']")) {
      other.setAttribute("tabindex", -1);
    }
    name(self.circles[i], i, 0);
    self.circles[i].focus({ preventScroll: true });
  }

  function key(self, event) {
    const i = self.circles.indexOf(event.target);
    if (i < 0) return;
    if (event.key === "Escape") return clear();
    const last = order.length - 1;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    let rank = data.rank[i];
    if (event.key in step) rank = Math.min(Math.max(rank + step[event.key], 0), last);
    else if (event.key === "Home") rank = 0;
    else if (event.key === "End") rank = last;
    else return;
    event.preventDefault();
    focus(self, order[rank]);
  }

  function nearest(self, event) {
    const box = self.svg.getBoundingClientRect();
    const unit = box.width / self.svg.viewBox.baseVal.width;
    const x = (event.clientX - box.left) / unit;
    const y = (event.clientY - box.top) / unit;
    let best = -1;
    let least = (REACH / unit) ** 2;
    for (let i = self.x.length - 1; i >= 0; i--) {
      const d = (self.x[i] - x) ** 2 + (self.y[i] - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  function point(self, event) {
    const i = nearest(self, event);
    if (i < 0) clear();
    else if (i !== self.current || self.tip.hidden) show(self, i);
  }

  function clear() {
    for (const other of plots) {
      other.tip.hidden = true;
      other.ring.style.display = "none";
      other.current = -1;
    }
    for (const tr of document.querySelectorAll("tr.marked")) tr.classList.remove("marked");
  }

  function mark(i) {
    for (const other of plots) {
      other.ring.setAttribute("cx", other.x[i]);
      other.ring.setAttribute("cy", other.y[i]);
      other.ring.style.display = "";
    }
  }

  function show(self, i) {
    clear();
    self.current = i;
    mark(i);
    const tr = lines.get(data.row[i]);
    if (tr) tr.classList.add("marked");
    const [head, ...rest] = describe(i);
    self.tip.replaceChildren(element("b", head), ...rest.map((line) => element("span", line)));
    self.tip.hidden = false;
    const box = self.svg.getBoundingClientRect();
    const unit = box.width / self.svg.viewBox.baseVal.width;
    const x = self.x[i] * unit;
    const y = self.y[i] * unit;
    const left = x + 14 + self.tip.offsetWidth > box.width ? x - 14 - self.tip.offsetWidth : x + 14;
    const top = y + 14 + self.tip.offsetHeight > box.height ? y - 14 - self.tip.offsetHeight : y + 14;
    self.tip.style.left = `${Math.max(0, Math.min(left, box.width - self.tip.offsetWidth))}px`;
    self.tip.style.top = `${Math.max(0, top)}px`;
  }

  const places = new Map(data.row.map((row, i) => [row, i]));
  for (const [row, tr] of lines) {
    tr.addEventListener("pointerenter", () => { clear(); mark(places.get(row)); });
    tr.addEventListener("pointerleave", clear);
  }

  const pair = document.getElementById("pair");
  if (pair) pair.addEventListener("change", () => {
    const self = plots.find((other) => other.svg.classList.contains("scores"));
    clear();
    for (const frame of self.svg.querySelectorAll("[data-pair]")) {
      frame.style.display = frame.dataset.pair === pair.value ? "" : "none";
    }
    const [a, b] = pair.value.split(" ").map(Number);
    const across = scale(data.limits[a], data.frame.x);
    const up = scale(data.limits[b], data.frame.y);
    self.circles.forEach((circle, i) => {
      circle.setAttribute("cx", across(data.z[a][i]));
      circle.setAttribute("cy", up(data.z[b][i]));
    });
    read(self);
  });

  function scale([low, high], [start, stop]) {
    return (z) => start + (Math.min(Math.max(z, low), high) - low) / (high - low) * (stop - start);
  }

  const table = document.getElementById("outliers");
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, column) => {
    const button = th.querySelector("button");
    if (button) button.addEventListener("click", () => sort(th, column));
  });

  function sort(th, column) {
    const numeric = th.dataset.sort === "number";
    const before = th.getAttribute("aria-sort");
    const down = before === "none" ? numeric : before === "ascending";
    for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (tr) => tr.cells[column].dataset.value;
    const compare = numeric
      ? (a, b) => Number(value(a).replace("inf", "Infinity")) - Number(value(b).replace("inf", "Infinity"))
      : (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
    const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? -compare(a, b) : compare(a, b)));
    table.tBodies[0].append(...rows);
  }
})();
