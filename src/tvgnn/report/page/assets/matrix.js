// The assignment matrix: one row a node (evenly spaced ones of many), one column a cluster.

class Matrix {
  constructor(nodes, values, rows, choose) {
    Object.assign(this, { nodes, values, rows, choose });
    this.canvas = document.getElementById("matrix");
    this.readout = document.getElementById("matrix-readout");
    this.canvas.width = nodes.k;
    this.canvas.height = rows.length;
    this.hint = this.readout.textContent;
    this.row = -1;
    this.draw();
    dark.addEventListener("change", () => this.draw());
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const inside = (part, count) => Math.min(Math.max(Math.floor(part * count), 0), count - 1);
      this.tell(inside((event.clientY - box.top) / box.height, rows.length), inside((event.clientX - box.left) / box.width, nodes.k));
    });
    this.canvas.addEventListener("pointerleave", () => { this.readout.textContent = this.hint; });
    this.canvas.addEventListener("click", () => { if (this.row >= 0) choose(this.rows[this.row]); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  draw() {
    const ramp = rampTable(), context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    this.values.forEach((value, i) => image.data.set([...ramp[value], 255], 4 * i));
    context.putImageData(image, 0, 0);
  }

  tell(row, column) {
    this.row = row;
    const node = this.rows[row], share = this.values[row * this.nodes.k + column] / 255;
    this.readout.textContent = `${this.nodes.id(node)}: ${percent(share)} in cluster ${column} (its own: ${this.nodes.cluster[node]})`;
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 25, PageUp: -25 }[event.key];
    if (step) {
      this.row = Math.min(Math.max(this.row + step, 0), this.rows.length - 1);
      this.tell(this.row, this.nodes.cluster[this.rows[this.row]]);
    } else if (event.key === "Enter" && this.row >= 0) this.choose(this.rows[this.row]);
    else return;
    event.preventDefault();
  }
}
