class BST {
  #root = null;
  size = 0;
  insert(key) {
    const node = { key, left: null, right: null };
    if (!this.#root) this.#root = node;
    else {
      let at = this.#root;
      for (;;) {
        const side = key < at.key ? 'left' : 'right';
        if (!at[side]) { at[side] = node; break; }
        at = at[side];
      }
    }
    this.size++;
    return this;
  }
  *[Symbol.iterator]() {
    function* visit(n) { if (n) { yield* visit(n.left); yield n.key; yield* visit(n.right); } }
    yield* visit(this.#root);
  }
}
const t = new BST();
[50, 20, 70, 10, 30, 60, 80, 30].forEach(k => t.insert(k));
//=
({ sorted: [...t], size: t.size, hidden: Object.keys(t) })
