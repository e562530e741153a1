// The page's data: JSON in a script element, arrays inside it through gzip and base64.

const DATA = JSON.parse(document.getElementById("data").textContent);
const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array };

async function unzip(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function unpack(packed) {
  return new TYPES[packed.type](await unzip(packed.gzip));
}

// What is drawn at once; features are unpacked when they are asked for.
async function readNodes() {
  const nodes = { n: DATA.n, k: DATA.k, top: DATA.clusters.shape[1], ids: null, classes: null, start: null, end: null };
  const [clusters, shares, degree, agreement] = await Promise.all(
    [DATA.clusters, DATA.shares, DATA.degree, DATA.agreement].map(unpack));
  Object.assign(nodes, { clusters, shares, degree, agreement });
  nodes.cluster = new Uint32Array(nodes.n);
  for (let i = 0; i < nodes.n; i++) nodes.cluster[i] = clusters[i * nodes.top];
  if (DATA.ids) nodes.ids = JSON.parse(new TextDecoder().decode(await unzip(DATA.ids)));
  if (DATA.classes) nodes.classes = await unpack(DATA.classes.codes);
  if (DATA.edges) [nodes.start, nodes.end] = await Promise.all([unpack(DATA.edges.start), unpack(DATA.edges.end)]);
  nodes.layouts = await Promise.all(DATA.layouts.map(async (layout) => ({ ...layout, points: await unpack(layout.points) })));
  nodes.id = (i) => (nodes.ids ? nodes.ids[i] : String(i));
  nodes.share = (i, place = 0) => shares[i * nodes.top + place] / 65535;
  nodes.insideText = (i) => `${Math.round((100 * agreement[i]) / 254)} %`;  // kept in steps of 0.4 %
  nodes.className = (i) => (nodes.classes && nodes.classes[i] >= 0 ? DATA.classes.names[nodes.classes[i]] : null);
  return nodes;
}

const unpackedFeatures = new Map();
function readFeature(entry) {
  if (!unpackedFeatures.has(entry)) unpackedFeatures.set(entry, unzip(entry.gzip).then((buffer) => new Uint8Array(buffer)));
  return unpackedFeatures.get(entry);
}

function percent(share) {
  return (100 * share).toFixed(share > 0.9995 || share < 0.0005 ? 0 : 1) + " %";
}

function short(number) {
  return Math.abs(number) >= 1e5 || (number !== 0 && Math.abs(number) < 1e-3) ? number.toExponential(2) : String(+number.toFixed(4));
}

// An element with text, never markup: text from the data stays text.
function element(name, text = "", properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.textContent = text;
  return made;
}
