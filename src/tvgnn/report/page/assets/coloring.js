// What the map can be coloured by: each choice gives colours, shapes, an order of drawing and a legend.

class Coloring {
  constructor(nodes) {
    this.nodes = nodes;
    this.shuffled = shuffle(nodes.n);
    this.choices = [
      { group: "Clustering", kind: "cluster", name: "cluster", numbers: nodes.cluster, names: Array.from({ length: nodes.k }, (_, c) => `cluster ${c}`) },
      { group: "Clustering", kind: "confidence", name: "confidence", levels: this.confidences(), low: 0, high: 1 },
      { group: "Clustering", kind: "agreement", name: "edge weight in its cluster", levels: this.agreements(), low: 0, high: 1, unknown: "no edges" },
      { group: "Clustering", kind: "degree", name: "number of neighbours", ...this.degrees() },
    ];
    if (nodes.classes) this.choices.push(this.classes());
    if (DATA.picture && DATA.picture.kind === "pixels" && document.getElementById("original")) {
      this.choices.push({ group: "Picture", kind: "picture", name: "colours of the picture", picture: true });
    }
    for (const feature of DATA.features.list) {
      this.choices.push({ group: "Features", kind: "feature", name: feature.name, feature, low: feature.low, high: feature.high });
    }
  }

  confidences() {
    return Uint8Array.from({ length: this.nodes.n }, (_, i) => Math.round(255 * this.nodes.share(i)));
  }

  // Levels are 0 to 255, and -1 where a node has no value
  agreements() {
    return Int16Array.from(this.nodes.agreement, (value) => (value === 255 ? -1 : Math.round((value / 254) * 255)));
  }

  // Few nodes have very many neighbours, so colours go by the root
  degrees() {
    const high = this.nodes.degree.reduce((a, b) => Math.max(a, b), 1);
    return { low: 0, high, root: true, levels: Uint8Array.from(this.nodes.degree, (value) => Math.round(255 * Math.sqrt(value / high))) };
  }

  // Values that the legend names, each with its place on the ramp from 0 to 1
  ticks({ low, high, root }) {
    const middle = root ? Math.round(high / 4) : (low + high) / 2;
    const inner = middle > low && middle < high ? [[root ? Math.sqrt(middle / high) : 0.5, middle]] : [];
    return [[0, low], ...inner, [1, high]];
  }

  // A class has the colour of the cluster that it matches best
  classes() {
    const colors = DATA.classes.colors;
    return { group: "Known classes", kind: "class", name: "class", numbers: this.nodes.classes, names: DATA.classes.names, colors };
  }

  // What must be at hand before a choice is painted
  async prepare(choice) {
    if (choice.feature && !choice.levels) choice.levels = await readFeature(choice.feature);
  }

  number(choice, node) {
    const number = choice.numbers[node];
    return number < 0 || !choice.colors ? number : choice.colors[number];
  }

  // Fill a scatter at once, with a prepared choice; only: one cluster or class that stays in front, the others fade
  paint(scatter, choice, only) {
    const n = this.nodes.n, grid = Boolean(scatter.layout.step);
    const { levels } = choice;
    const pixels = choice.picture ? pictureColors() : null;
    const ramp = levels ? rampTable() : null;
    const full = grid ? 255 : 215, faded = grid ? 40 : 14;
    for (let i = 0; i < n; i++) {
      const color = levels ? (levels[i] < 0 ? valueUnknown() : ramp[levels[i]]) : pixels ? pixels.subarray(4 * i, 4 * i + 3) : numberColor(this.number(choice, i));
      scatter.colors[4 * i] = color[0];
      scatter.colors[4 * i + 1] = color[1];
      scatter.colors[4 * i + 2] = color[2];
      scatter.colors[4 * i + 3] = only && only.numbers[i] !== only.number ? faded : full;
      scatter.shapes[i] = !grid && choice.numbers ? numberShape(this.number(choice, i)) : 0;
    }
    this.sort(scatter.order, levels, only);
  }

  // Large values and what is picked out are drawn last; else at random, so that no cluster hides the others
  sort(order, levels, only) {
    const n = this.nodes.n, counts = new Uint32Array(515);
    const key = (i) => 1 + (levels ? levels[i] + 1 : 0) + (only && only.numbers[i] === only.number ? 257 : 0);
    for (let i = 0; i < n; i++) counts[key(i)]++;
    for (let c = 1; c < 515; c++) counts[c] += counts[c - 1];
    for (const i of this.shuffled) order[counts[key(i) - 1]++] = i;
  }

  // Name and value of a node under a choice, where the other lines do not tell it already
  text(choice, node) {
    if (choice.kind === "degree") return [choice.name, String(this.nodes.degree[node])];
    if (choice.kind === "agreement") return [choice.name, choice.levels[node] < 0 ? choice.unknown : this.nodes.insideText(node)];
    if (choice.kind === "feature") return [choice.name, `≈ ${short(choice.low + (choice.levels[node] / 255) * (choice.high - choice.low))}`];
    return null;
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
