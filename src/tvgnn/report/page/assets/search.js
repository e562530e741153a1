// Find a node by its id: exact first, then those that begin with the text, then those that contain it.

const MOST_FOUND = 12;

class Search {
  constructor(nodes, choose) {
    this.nodes = nodes;
    this.choose = choose;
    this.input = document.getElementById("search");
    this.list = document.getElementById("found");
    this.none = document.getElementById("none-found");
    this.lower = Array.from({ length: nodes.n }, (_, i) => nodes.id(i).toLowerCase());
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  find(text) {
    const wanted = text.trim().toLowerCase(), ranks = [[], [], []];
    if (!wanted) return [];
    for (let i = 0; i < this.nodes.n; i++) {
      const at = this.lower[i].indexOf(wanted);
      if (at < 0) continue;
      const rank = ranks[this.lower[i] === wanted ? 0 : at === 0 ? 1 : 2];
      if (rank.length < MOST_FOUND) rank.push(i);
    }
    return ranks.flat().slice(0, MOST_FOUND);
  }

  show() {
    const found = this.find(this.input.value);
    this.list.replaceChildren(...found.map((node, at) => {
      const option = element("li", this.nodes.id(node), { id: `found-${at}` });
      option.dataset.node = node;
      option.setAttribute("role", "option");
      option.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(option); });
      return option;
    }));
    this.none.textContent = !found.length && this.input.value.trim() ? "no node has this id" : "";
    this.list.hidden = !found.length;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark(found.length ? 0 : -1);
  }

  mark(at) {
    this.at = at;
    [...this.list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) this.input.setAttribute("aria-activedescendant", `found-${at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const count = this.list.children.length;
    if (event.key === "Enter") { if (this.list.hidden) this.show(); if (this.at >= 0) this.take(this.list.children[this.at]); }
    else if (event.key === "Escape") this.close();
    else if (event.key === "ArrowDown" && count) this.mark((this.at + 1) % count);
    else if (event.key === "ArrowUp" && count) this.mark((this.at + count - 1) % count);
    else return;
    event.preventDefault();
  }

  take(option) {
    this.choose(+option.dataset.node);
    this.input.value = option.textContent;
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.none.textContent = "";
    this.at = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
