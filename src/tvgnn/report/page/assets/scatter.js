// Points in the plane, drawn by WebGL 2 (a million are no trouble) or, without it, by the 2-D canvas.

const VERTEX = `#version 300 es
in vec2 place; in vec4 color; in float shape;
uniform vec2 scale, shift; uniform mediump float size;
out vec4 tint; flat out int kind;
void main() {
  gl_Position = vec4(place * scale + shift, 0.0, 1.0);
  gl_PointSize = size; tint = color; kind = int(shape + 0.5);
}`;

// Shapes in the order of the markers: circle, square, triangle, diamond, triangle down, plus.
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; flat in int kind; uniform float size;
out vec4 result;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0; vec2 a = abs(p);
  float d = -1.0;
  if (kind == 0) d = length(p) - 0.95;
  else if (kind == 1) d = max(a.x, a.y) - 0.8;
  else if (kind == 2) d = max(0.87 * a.x - 0.49 * (p.y + 0.95), p.y - 0.75);
  else if (kind == 3) d = a.x + a.y - 0.98;
  else if (kind == 4) d = max(0.87 * a.x - 0.49 * (0.95 - p.y), -p.y - 0.75);
  else if (kind == 5) d = max(min(a.x, a.y) - 0.33, max(a.x, a.y) - 0.95);
  float cover = clamp(0.5 - d * size * 0.5, 0.0, 1.0);
  result = vec4(tint.rgb, 1.0) * (tint.a * cover);
}`;

// Nodes that are the pixels of a picture: one rectangle with the picture on it. As points they would vanish where their
// middle leaves the map, and could not grow beyond the largest point.
const PICTURE_VERTEX = `#version 300 es
uniform vec4 box;
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(box.xy, box.zw, at), 0.0, 1.0);
}`;

const PICTURE_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at; uniform sampler2D picture;
out vec4 result;
void main() {
  vec4 color = texture(picture, at);
  result = vec4(color.rgb * color.a, color.a);
}`;

function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(`WebGL: ${gl.getProgramInfoLog(program)}`);
  return program;
}

class Scatter {
  constructor(canvas, count) {
    this.canvas = canvas;
    this.count = count;
    this.colors = new Uint8Array(4 * count);
    this.shapes = new Uint8Array(count);
    this.order = new Uint32Array(count);
    this.gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (this.gl) this.prepare();
    else this.plain = canvas.getContext("2d");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.prepare(); this.send(); this.draw(); });
  }

  prepare() {
    const gl = this.gl;
    const program = makeProgram(gl, VERTEX, FRAGMENT), picture = makeProgram(gl, PICTURE_VERTEX, PICTURE_FRAGMENT);
    this.programs = { points: program, picture };
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.uniform = Object.fromEntries(["scale", "shift", "size"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.uniform.box = gl.getUniformLocation(picture, "box");
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [name, value] of [["MIN", gl.LINEAR], ["MAG", gl.NEAREST]]) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}_FILTER`], value);
    for (const side of "ST") gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_WRAP_${side}`], gl.CLAMP_TO_EDGE);
    const attribute = (name, parts, type, scaled) => {
      const buffer = gl.createBuffer();
      const place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, parts, type, scaled, 0, 0);
      return buffer;
    };
    this.buffers = {
      points: attribute("place", 2, gl.UNSIGNED_SHORT, true),
      colors: attribute("color", 4, gl.UNSIGNED_BYTE, true),
      shapes: attribute("shape", 1, gl.UNSIGNED_BYTE, false),
      order: gl.createBuffer(),
    };
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.order);
  }

  place(layout) {
    this.layout = layout;
    this.index = new PointIndex(layout.points, this.count);
    this.fit();
  }

  send() {
    const gl = this.gl, { width, height } = DATA.picture || {};
    if (this.layout.step && !gl) {
      this.picture = Object.assign(document.createElement("canvas"), { width, height });
      this.picture.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(this.colors), width, height), 0, 0);
    }
    if (!gl) return;
    // One that no texture can hold is drawn as points
    this.textured = Boolean(this.layout.step) && Math.max(width, height) <= gl.getParameter(gl.MAX_TEXTURE_SIZE);
    if (this.textured) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, this.colors);
    for (const [name, values] of [["points", this.layout.points], ["colors", this.colors], ["shapes", this.shapes]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    }
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.order, gl.STATIC_DRAW);
  }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
  }

  fit() {
    const [x, y] = this.layout.extent;
    this.zoom = 0.92 * Math.min(this.width / Math.max(x, 0.05), this.height / Math.max(y, 0.05));
    this.fitted = this.zoom;
    this.center = [x / 2, y / 2];
  }

  // Of a picture no pixel becomes larger than half of the map
  allowed(zoom) {
    const { step } = this.layout;
    const most = step ? Math.max(this.fitted, Math.min(this.width, this.height) / (2 * step)) : this.fitted * 400;
    return Math.min(Math.max(zoom, this.fitted / 2), most);
  }

  zoomAt(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = this.allowed(this.zoom * factor);
    const move = 1 / this.zoom - 1 / zoom;
    this.center[0] += (x - this.width / 2) * move;
    this.center[1] -= (y - this.height / 2) * move;
    this.zoom = zoom;
  }

  pan(x, y) {
    this.center[0] -= x / this.zoom;
    this.center[1] += y / this.zoom;
  }

  // From a node to pixels of the page and back
  screen(node) {
    const points = this.layout.points;
    return this.toScreen(points[2 * node] / 65535, points[2 * node + 1] / 65535);
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.center[0]) * this.zoom, this.height / 2 - (y - this.center[1]) * this.zoom];
  }

  pick(x, y, reach = 14) {
    const place = [this.center[0] + (x - this.width / 2) / this.zoom, this.center[1] - (y - this.height / 2) / this.zoom];
    const half = this.size() * (this.layout.step ? Math.SQRT1_2 : 0.5);  // to the corners of a pixel
    return this.index.nearest(place[0] * 65535, place[1] * 65535, (Math.max(reach, half) / this.zoom) * 65535);
  }

  size() {
    if (this.layout.step) return Math.max(1, this.layout.step * this.zoom);
    const base = Math.min(Math.max(Math.sqrt((0.16 * this.width * this.height) / this.count), 2.2), 9);
    return Math.min(base * Math.max(1, Math.pow(this.zoom / this.fitted, 0.45)), 18);
  }

  draw() {
    if (this.gl) this.drawFast();
    else this.drawPlain();
  }

  drawFast() {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.textured) {
      const [left, top, right, bottom] = this.pictureBox();
      gl.useProgram(this.programs.picture);
      gl.uniform4f(this.uniform.box, (2 * left) / this.width - 1, 1 - (2 * top) / this.height, (2 * right) / this.width - 1, 1 - (2 * bottom) / this.height);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      return;
    }
    gl.useProgram(this.programs.points);
    const scale = [(2 * this.zoom) / this.width, (2 * this.zoom) / this.height];
    gl.uniform2f(this.uniform.scale, scale[0], scale[1]);
    gl.uniform2f(this.uniform.shift, -this.center[0] * scale[0], -this.center[1] * scale[1]);
    gl.uniform1f(this.uniform.size, this.size() * this.ratio);
    gl.drawElements(gl.POINTS, this.count, gl.UNSIGNED_INT, 0);
  }

  // Left, top, right and bottom of all pixels together, half a pixel beyond the middles of the outer ones
  pictureBox() {
    const { step, extent } = this.layout;
    return [...this.toScreen(-step / 2, extent[1] + step / 2), ...this.toScreen(extent[0] + step / 2, -step / 2)];
  }

  drawPlain() {
    const plain = this.plain;
    plain.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    plain.clearRect(0, 0, this.width, this.height);
    if (this.layout.step) {
      const [left, top, right, bottom] = this.pictureBox();
      plain.imageSmoothingEnabled = this.layout.step * this.zoom < 1;
      plain.drawImage(this.picture, left, top, right - left, bottom - top);
      plain.imageSmoothingEnabled = true;
      return;
    }
    const size = this.size(), half = size / 2, { colors, shapes } = this, stamps = new Map();
    const small = size * this.ratio < 4;  // no shape can be told, and squares are filled several times faster
    let last = -1;
    for (const node of this.order) {
      const [x, y] = this.screen(node);
      if (x < -size || y < -size || x > this.width + size || y > this.height + size) continue;
      const at = 4 * node;
      const code = ((colors[at] << 24) | (colors[at + 1] << 16) | (colors[at + 2] << 8) | colors[at + 3]) >>> 0;
      const color = () => `rgba(${colors[at]},${colors[at + 1]},${colors[at + 2]},${colors[at + 3] / 255})`;
      if (small) {
        if (code !== last) plain.fillStyle = color();
        last = code;
        plain.fillRect(x - half, y - half, size, size);
        continue;
      }
      const key = 8 * code + shapes[node];
      if (!stamps.has(key)) stamps.set(key, stamp(shapes[node], color(), size, this.ratio));
      plain.drawImage(stamps.get(key), x - half, y - half, size, size);
    }
  }
}

// A shape in one colour, drawn once and then copied: much faster than a path for each node
function stamp(shape, color, size, ratio) {
  const side = Math.ceil(size * ratio);
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
  const pen = canvas.getContext("2d");
  pen.translate(side / 2, side / 2);
  pen.scale(side / 11.2, side / 11.2);  // the widest marker spans 11.2 units
  pen.fillStyle = color;
  pen.fill(new Path2D(document.querySelector(`#shapes [data-shape="${shape}"] path`).getAttribute("d")));
  return canvas;
}

// Points sorted into square cells, so that the nearest one is found without looking at all.
class PointIndex {
  constructor(points, count) {
    this.points = points;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(count / 2))));
    this.width = 65536 / this.side;
    this.start = new Uint32Array(this.side * this.side + 1);
    this.items = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.start[this.cell(points[2 * i], points[2 * i + 1]) + 1]++;
    for (let c = 0; c < this.side * this.side; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    for (let i = 0; i < count; i++) this.items[next[this.cell(points[2 * i], points[2 * i + 1])]++] = i;
  }

  cell(x, y) {
    return Math.floor(y / this.width) * this.side + Math.floor(x / this.width);
  }

  nearest(x, y, reach) {
    const clamp = (value) => Math.min(Math.max(Math.floor(value / this.width), 0), this.side - 1);
    let best = -1, least = reach * reach;
    for (let row = clamp(y - reach); row <= clamp(y + reach); row++) {
      for (let column = clamp(x - reach); column <= clamp(x + reach); column++) {
        const cell = row * this.side + column;
        for (let at = this.start[cell]; at < this.start[cell + 1]; at++) {
          const node = this.items[at];
          const far = (this.points[2 * node] - x) ** 2 + (this.points[2 * node + 1] - y) ** 2;
          if (far < least) [best, least] = [node, far];
        }
      }
    }
    return best;
  }
}
