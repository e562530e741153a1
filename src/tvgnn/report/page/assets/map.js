// The map of the nodes: hover, select, search, zoom, colours, legend.

class NodeMap {
  constructor(nodes, tiles) {
    this.nodes = nodes;
    this.tiles = tiles;
    const find = (id) => document.getElementById(id);
    this.canvas = find("map");
    this.overlay = find("overlay");
    this.tip = find("tip");
    this.details = find("details");
    this.legend = find("legend");
    this.scatter = new Scatter(this.canvas, nodes.n);
    this.coloring = new Coloring(nodes);
    this.selected = -1;
    // What is wanted; what is drawn follows it, later where a feature must be unpacked first
    this.plane = 0;
    this.choice = this.coloring.choices[0];
    this.only = null;
    this.shown = { plane: -1, choice: this.choice };
    this.turn = 0;
    this.fillSelects(find("layout"), find("color"));
    this.scatter.resize();
    this.listen();
  }

  start() {
    return this.repaint();
  }

  fillSelects(plane, color) {
    this.nodes.layouts.forEach((layout, at) => plane.append(element("option", layout.name, { value: at })));
    plane.disabled = this.nodes.layouts.length < 2;
    plane.addEventListener("change", () => { this.plane = +plane.value; this.repaint(); });
    const groups = new Map();
    this.coloring.choices.forEach((choice, at) => {
      if (!groups.has(choice.group)) groups.set(choice.group, color.appendChild(Object.assign(document.createElement("optgroup"), { label: choice.group })));
      groups.get(choice.group).append(element("option", choice.name, { value: at }));
    });
    color.addEventListener("change", () => this.colorBy(this.coloring.choices[+color.value], null));
    this.color = color;
  }

  colorBy(choice, only) {
    this.choice = choice;
    this.only = only;
    this.color.value = this.coloring.choices.indexOf(choice);
    return this.repaint();
  }

  usePlane(at) {
    this.scatter.place(this.nodes.layouts[at]);
    document.getElementById("note").textContent = this.nodes.layouts[at].note;
    this.centers = this.scatter.layout.step ? [] : clusterCenters(this.scatter.layout.points, this.nodes);
  }

  // Layout, colours, legend and panel change together, and only for the last that was asked for: an earlier one may be
  // unpacked later
  async repaint() {
    const turn = ++this.turn;
    await this.coloring.prepare(this.choice);
    if (turn !== this.turn) return;
    const before = this.shown;
    this.shown = { plane: this.plane, choice: this.choice };
    if (this.plane !== before.plane) this.usePlane(this.plane);
    this.coloring.paint(this.scatter, this.choice, this.only);
    this.scatter.send();
    this.drawLegend(this.choice);
    this.draw();
    if (this.choice !== before.choice) this.describe(this.selected);
  }

  draw() {
    this.scatter.draw();
    this.drawOverlay();
  }

  drawOverlay() {
    const { width, height, ratio } = this.scatter;
    this.overlay.width = this.canvas.width;
    this.overlay.height = this.canvas.height;
    const pen = this.overlay.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink"), paper = style.getPropertyValue("--paper");
    if (this.selected >= 0 && this.nodes.start) {
      const from = this.scatter.screen(this.selected);
      pen.strokeStyle = ink;
      pen.globalAlpha = 0.45;
      pen.beginPath();
      for (let at = this.nodes.start[this.selected]; at < this.nodes.start[this.selected + 1]; at++) {
        pen.moveTo(...from);
        pen.lineTo(...this.scatter.screen(this.nodes.end[at]));
      }
      pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [cluster, x, y] of this.centers) {
      const [left, top] = this.scatter.toScreen(x, y);
      if (left < 0 || top < 0 || left > width || top > height) continue;
      pen.lineWidth = 4;
      pen.lineJoin = "round";
      pen.strokeStyle = paper;
      pen.fillStyle = ink;
      pen.strokeText(cluster, left, top);
      pen.fillText(cluster, left, top);
    }
    if (this.selected >= 0) {
      const [x, y] = this.scatter.screen(this.selected);
      const radius = Math.max(this.scatter.size() / 2 + 3, 6);
      for (const [color, line] of [[paper, 5], [ink, 2.5]]) {
        pen.strokeStyle = color;
        pen.lineWidth = line;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 7);
        pen.stroke();
      }
    }
  }

  drawLegend(choice) {
    this.legend.replaceChildren();
    if (choice.picture) return;
    if (!choice.numbers) {
      this.drawRamp(choice);
      return;
    }
    const counts = new Map();
    for (const number of choice.numbers) counts.set(number, (counts.get(number) || 0) + 1);
    for (const number of [...counts.keys()].sort((a, b) => (a < 0) - (b < 0) || a - b)) {
      const button = element("button", "", { type: "button", className: "entry" });
      const color = number < 0 || !choice.colors ? number : choice.colors[number];
      button.append(markerIcon(color), element("span", number < 0 ? "unknown" : choice.names[number]), element("small", counts.get(number).toLocaleString("en")));
      button.setAttribute("aria-pressed", Boolean(this.only && this.only.number === number));
      button.addEventListener("click", () => this.highlight(choice, number));
      this.legend.append(button);
    }
  }

  drawRamp(choice) {
    const bar = element("div", "", { className: "ramp" }), ticks = element("div", "", { className: "ticks" });
    bar.style.background = `linear-gradient(90deg, ${rampStops()})`;
    for (const [place, value] of this.coloring.ticks(choice)) {
      const tick = ticks.appendChild(element("span", short(value)));
      tick.style.left = `${100 * place}%`;
      tick.style.transform = `translateX(${-100 * place}%)`;
    }
    this.legend.append(element("div", "", { className: "scale" }));
    this.legend.lastChild.append(bar, ticks);
    const without = choice.levels.reduce((count, level) => count + (level < 0), 0);
    if (!without) return;
    const entry = element("span", "", { className: "entry" });
    entry.append(markerIcon(-1, valueUnknown()), element("span", choice.unknown), element("small", without.toLocaleString("en")));
    this.legend.append(entry);
  }

  async highlight(choice, number) {
    const again = this.only && this.only.number === number;
    const at = [...this.legend.children].indexOf(document.activeElement);
    await this.colorBy(choice, again ? null : { numbers: choice.numbers, number });
    if (at >= 0 && this.legend.children[at].focus) this.legend.children[at].focus();
  }

  async showCluster(cluster) {
    await this.colorBy(this.coloring.choices[0], { numbers: this.nodes.cluster, number: cluster });
    this.canvas.scrollIntoView({ block: "nearest" });
  }

  select(node, center = false) {
    this.selected = node;
    if (center && node >= 0) {
      const points = this.scatter.layout.points;
      this.scatter.center = [points[2 * node] / 65535, points[2 * node + 1] / 65535];
      this.scatter.zoom = this.scatter.allowed(Math.max(this.scatter.zoom, 2.5 * this.scatter.fitted));
    }
    this.draw();
    this.describe(node);
  }

  lines(node) {
    const { nodes } = this, lines = [];
    lines.push(`cluster ${nodes.cluster[node]}, confidence ${percent(nodes.share(node))}`);
    if (nodes.classes) lines.push(`class: ${nodes.className(node) ?? "unknown"}`);
    const value = this.coloring.text(this.shown.choice, node);
    if (value) lines.push(value.join(": "));
    return lines;
  }

  showTip(node, x, y) {
    this.tip.hidden = node < 0;
    if (node < 0) return;
    this.tip.replaceChildren(element("strong", this.nodes.id(node)), ...this.lines(node).map((line) => element("div", line)));
    if (this.tiles) this.tip.append(this.tiles.draw(node, 64));
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, Math.max(this.scatter.width - box.width - 4, 0))}px`;
    this.tip.style.top = `${y + 18 + box.height > this.scatter.height ? Math.max(y - box.height - 10, 0) : y + 18}px`;
  }

  describe(node) {
    this.details.replaceChildren();
    if (node < 0) {
      this.details.append(element("p", "No node is selected.", { className: "quiet" }));
      return;
    }
    const { nodes } = this;
    this.details.append(element("h3", nodes.id(node)));
    if (this.tiles) this.details.append(this.tiles.draw(node, 96));
    const list = element("table");
    const row = (icon, name, value, share = null) => {
      const line = list.insertRow();
      const head = element("th", name);
      if (icon) head.prepend(icon);
      const cell = element("td", value);
      if (share !== null) { cell.className = "bar"; cell.style.setProperty("--v", share); }
      line.append(head, cell);
    };
    for (let place = 0; place < nodes.top; place++) {
      const cluster = nodes.clusters[node * nodes.top + place];
      row(markerIcon(cluster), `cluster ${cluster}`, percent(nodes.share(node, place)), nodes.share(node, place));
    }
    if (nodes.classes) row(null, "class", nodes.className(node) ?? "unknown");
    row(null, "neighbours", String(nodes.degree[node]));
    if (nodes.agreement[node] !== 255) row(null, "edge weight in its cluster", nodes.insideText(node), nodes.agreement[node] / 254);
    const { choice } = this.shown;
    if (choice.kind === "feature") row(null, ...this.coloring.text(choice, node));
    this.details.append(list);
  }

  // A node that may lie outside of the map, which then moves
  goTo(node) {
    this.select(node);
    const [left, top] = this.scatter.screen(node);
    if (left < 20 || top < 20 || left > this.scatter.width - 20 || top > this.scatter.height - 20) this.select(node, true);
  }

  // The next node in a direction, for the arrow keys; left and right first go through the nodes at the same place
  step(dx, dy) {
    const { points } = this.scatter.layout;
    if (this.selected < 0) return this.select(Math.max(this.scatter.pick(this.scatter.width / 2, this.scatter.height / 2, 1e4), 0));
    const x = points[2 * this.selected], y = points[2 * this.selected + 1];
    let best = -1, least = Infinity;
    for (let at = 0; at < this.nodes.n; at++) {
      // Of several nodes at one place the first is met from the left, the last from the right
      const i = dx < 0 ? this.nodes.n - 1 - at : at;
      const ahead = (points[2 * i] - x) * dx + (points[2 * i + 1] - y) * dy;
      const aside = Math.abs((points[2 * i] - x) * dy) + Math.abs((points[2 * i + 1] - y) * dx);
      const together = !ahead && !aside && (i - this.selected) * dx > 0;
      if ((together || (ahead > 0 && aside <= ahead)) && ahead + 2 * aside < least) [best, least] = [i, ahead + 2 * aside];
    }
    if (best >= 0) this.goTo(best);
  }

  listen() {
    const { canvas, scatter } = this;
    let frame = 0, drag = null;
    const later = () => { frame ||= requestAnimationFrame(() => { frame = 0; this.draw(); }); };
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { at: at(event), moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (drag && event.buttons) {
        if (drag.moved || Math.hypot(x - drag.at[0], y - drag.at[1]) > 4) {
          scatter.pan(x - drag.at[0], y - drag.at[1]);
          drag = { at: [x, y], moved: true };
          this.showTip(-1);
          later();
        }
        return;
      }
      this.showTip(scatter.pick(x, y), x, y);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.select(scatter.pick(...at(event)));
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => this.showTip(-1));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      scatter.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
      later();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => { this.zoomKey(button.dataset.zoom); });
    }
    new ResizeObserver(() => {
      const { zoom, fitted, center } = scatter;
      scatter.resize();
      if (!scatter.layout) return;
      scatter.fit();
      if (fitted) { scatter.zoom *= zoom / fitted; scatter.center = center; }
      this.draw();
    }).observe(canvas);
    dark.addEventListener("change", () => this.repaint());
  }

  zoomKey(key) {
    if (key === "0") this.scatter.fit();
    else this.scatter.zoomAt(key === "-" ? 0.7 : 1 / 0.7);
    this.draw();
  }

  key(event) {
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    this.showTip(-1);
    if (arrow && event.shiftKey) { this.scatter.pan(-60 * arrow[0], 60 * arrow[1]); this.draw(); }
    else if (arrow) this.step(...arrow);
    // In the order of the data: some node may be the nearest in no direction
    else if (event.key === "PageDown") this.goTo((this.selected + 1) % this.nodes.n);
    else if (event.key === "PageUp") this.goTo((Math.max(this.selected, 0) + this.nodes.n - 1) % this.nodes.n);
    else if (["+", "=", "-", "0"].includes(event.key)) this.zoomKey(event.key);
    else if (event.key === "Escape") this.select(-1);
    else return;
    event.preventDefault();
  }
}

// Median position of each cluster, where its number is written
function clusterCenters(points, nodes) {
  const members = Array.from({ length: nodes.k }, () => []);
  for (let i = 0; i < nodes.n; i++) members[nodes.cluster[i]].push(i);
  const middle = (list, axis) => Uint16Array.from(list, (i) => points[2 * i + axis]).sort()[list.length >> 1] / 65535;
  return members.flatMap((list, cluster) => (list.length ? [[cluster, middle(list, 0), middle(list, 1)]] : []));
}
