// The search field of the network, with suggestions.

/** Names of regulators and variables that hold the text, those that begin with it first. */
function findNodes(text, most = 8) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const nodes = [];
  const look = (kind, index, ...names) => {
    const at = Math.min(
      ...names.map((name) => name.toLowerCase().indexOf(wanted)).map((i) => (i < 0 ? Infinity : i)),
    );
    if (at < Infinity) nodes.push({ kind, index, at: at > 0 ? 1 : 0 });
  };
  REGULATORS.forEach((regulator, r) => look("regulator", r, regulator.label, regulator.id));
  DATA.genes.forEach((gene, g) => look("gene", g, DATA.gene_labels[g], gene));
  return nodes.sort((a, b) => a.at - b.at).slice(0, most);
}

/** A search field with suggestions (the combobox pattern of WAI-ARIA). */
function nodeSearch(show) {
  let options = [];
  let active = -1;
  const list = h("ul", {
    id: "node-options",
    role: "listbox",
    "aria-label": "Matches",
    hidden: true,
  });
  const input = h("input", {
    type: "search",
    id: "node-search",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "node-options",
    "aria-autocomplete": "list",
    placeholder: "gene or regulator",
    autocomplete: "off",
    oninput: suggest,
    onkeydown: onKey,
    onblur: () => setTimeout(close, 150),
  });

  function suggest() {
    options = findNodes(input.value);
    active = options.length ? 0 : -1;
    const none =
      input.value.trim() && !options.length ? [h("li", { class: "none" }, "No such name.")] : [];
    list.replaceChildren(
      ...options.map((node, i) =>
        h(
          "li",
          { role: "option", id: `node-option-${i}`, onpointerdown: () => take(i) },
          nodeName(node),
          h("small", {}, node.kind === "gene" ? "target" : "regulator"),
        ),
      ),
      ...none,
    );
    list.hidden = !options.length && !none.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  }

  function mark() {
    [...list.children].forEach((item, i) =>
      item.setAttribute("aria-selected", String(i === active)),
    );
    if (active >= 0) input.setAttribute("aria-activedescendant", `node-option-${active}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function take(i) {
    if (!options[i]) return;
    input.value = nodeName(options[i]);
    show(options[i]);
    close();
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  function onKey(event) {
    if (event.key === "Escape") return close();
    if (event.key === "Enter") return take(active);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !options.length) return undefined;
    event.preventDefault();
    active = (active + step + options.length) % options.length;
    return mark();
  }

  return h(
    "div",
    { class: "combo" },
    h("label", { class: "field", for: "node-search" }, "Find in the network"),
    input,
    list,
  );
}
