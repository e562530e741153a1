// What the map can be coloured by: each choice gives colours, shapes, an order of drawing and a legend.

class Coloring {
  constructor(nodes) {
    this.nodes = nodes;
    this.shuffled = shuffle(nodes.n);
    this.choices = [
      { group: "Clustering", name: "cluster", numbers: nodes.cluster, names: Array.from({ length: nodes.k }, (_, c) => `cluster ${c}`) },
      { group: "Clustering", name: "confidence", levels: this.confidences(), low: 0, high: 1 },
      { group: "Clustering", name: "neighbours in the same cluster", levels: this.agreements(), low: 0, high: 1 },
      { group: "Clustering", name: "number of neighbours", ...this.degrees() },
    ];
    if (nodes.classes) this.choices.push(this.classes());
    if (DATA.picture && DATA.picture.kind === "pixels" && document.getElementById("original")) {
      this.choices.push({ group: "Picture", name: "colours of the picture", picture: true });
    }
    for (const feature of DATA.features.list) {
      this.choices.push({ group: "Features", name: feature.name, feature, low: feature.low, high: feature.high });
    }
  }

  confidences() {
    return Uint8Array.from({ length: this.nodes.n }, (_, i) => Math.round(255 * this.nodes.share(i)));
  }

  agreements() {
    return this.nodes.agreement.map((value) => (value === 255 ? 0 : Math.round((value / 254) * 255)));
  }

  degrees() {
    const high = this.nodes.degree.reduce((a, b) => Math.max(a, b), 1);
    return { low: 0, high, levels: Uint8Array.from(this.nodes.degree, (value) => Math.round((255 * Math.sqrt(value)) / Math.sqrt(high))), root: true };
  }

  // A class has the colour of the cluster that it matches best
  classes() {
    const colors = DATA.classes.colors;
    return { group: "Known classes", name: "class", numbers: this.nodes.classes, names: DATA.classes.names, colors };
  }

  async levels(choice) {
    if (choice.feature && !choice.levels) choice.levels = await readFeature(choice.feature);
    return choice.levels;
  }

  number(choice, node) {
    const number = choice.numbers[node];
    return number < 0 || !choice.colors ? number : choice.colors[number];
  }

  // Fill a scatter; only: one cluster or class that stays in front, the others fade
  async paint(scatter, choice, only) {
    const n = this.nodes.n, grid = Boolean(scatter.layout.step);
    const levels = choice.numbers || choice.picture ? null : await this.levels(choice);
    const pixels = choice.picture ? pictureColors() : null;
    const ramp = levels ? rampTable() : null;
    const full = grid ? 255 : 215, faded = grid ? 40 : 14;
    for (let i = 0; i < n; i++) {
      const color = levels ? ramp[levels[i]] : pixels ? pixels.subarray(4 * i, 4 * i + 3) : numberColor(this.number(choice, i));
      scatter.colors[4 * i] = color[0];
      scatter.colors[4 * i + 1] = color[1];
      scatter.colors[4 * i + 2] = color[2];
      scatter.colors[4 * i + 3] = only && only.numbers[i] !== only.number ? faded : full;
      scatter.shapes[i] = grid ? 6 : choice.numbers ? numberShape(this.number(choice, i)) : 0;
    }
    this.sort(scatter.order, levels, only);
  }

  // Large values and what is picked out are drawn last; else at random, so that no cluster hides the others
  sort(order, levels, only) {
    const n = this.nodes.n, counts = new Uint32Array(514);
    const key = (i) => 1 + (levels ? levels[i] : 0) + (only && only.numbers[i] === only.number ? 256 : 0);
    for (let i = 0; i < n; i++) counts[key(i)]++;
    for (let c = 1; c < 514; c++) counts[c] += counts[c - 1];
    for (const i of this.shuffled) order[counts[key(i) - 1]++] = i;
  }

  text(choice, node) {
    if (choice.numbers || choice.picture || !choice.levels) return null;
    if (choice.name === "number of neighbours") return `${choice.name}: ${this.nodes.degree[node]}`;
    if (choice.feature) return `${choice.name}: ≈ ${short(choice.low + (choice.levels[node] / 255) * (choice.high - choice.low))}`;
    if (choice.name === "confidence") return null;
    return `${choice.name}: ${this.nodes.agreement[node] === 255 ? "has none" : percent(this.nodes.agreement[node] / 254)}`;
  }
}

// The same order each time: a linear congruential generator and Fisher-Yates
function shuffle(n) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 1;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function pictureColors() {
  const image = document.getElementById("original");
  const canvas = Object.assign(document.createElement("canvas"), { width: DATA.picture.width, height: DATA.picture.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height).data;
}
