// Start: unpack the data, build the map, the search and the matrix, connect the tables to the map.

// Nodes whose features are an image of their own
class Tiles {
  constructor(features) {
    const { height, width } = DATA.picture;
    Object.assign(this, { features, height, width });
    this.low = Math.min(...DATA.features.list.map((entry) => entry.low));
    this.high = Math.max(...DATA.features.list.map((entry) => entry.high));
  }

  draw(node, side) {
    const canvas = Object.assign(document.createElement("canvas"), { width: this.width, height: this.height, className: "tile" });
    canvas.style.width = `${side}px`;
    const context = canvas.getContext("2d");
    const image = context.createImageData(this.width, this.height);
    DATA.features.list.forEach((entry, at) => {
      const value = entry.low + (this.features[at][node] / 255) * (entry.high - entry.low);
      const grey = Math.round((255 * (value - this.low)) / (this.high - this.low || 1));
      image.data.set([grey, grey, grey, 255], 4 * entry.index);
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }
}

async function start() {
  const nodes = await readNodes();
  const complete = DATA.features.list.length === DATA.features.total;
  const tiles = DATA.picture && DATA.picture.kind === "tiles" && complete
    ? new Tiles(await Promise.all(DATA.features.list.map(readFeature))) : null;
  const map = new NodeMap(nodes, tiles);
  await map.start();
  const show = (node) => { map.select(node, true); document.getElementById("map-section").scrollIntoView({ block: "start" }); };
  new Search(nodes, (node) => map.select(node, true));
  new Matrix(nodes, await unpack(DATA.matrix.values), await unpack(DATA.matrix.nodes), show);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.node !== undefined) show(+button.dataset.node);
    if (button.dataset.cluster !== undefined) map.showCluster(+button.dataset.cluster);
  });
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  const box = document.getElementById("failure");
  box.hidden = false;
  box.textContent = typeof DecompressionStream === "undefined"
    ? "The map needs a browser of 2023 or later (DecompressionStream). The tables below are complete."
    : `The map cannot be shown: ${error.message}. The tables below are complete.`;
  console.error(error);
});
