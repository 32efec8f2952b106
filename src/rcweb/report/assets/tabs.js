// Analyses as tabs (the tabs pattern of WAI-ARIA); each is made when it is first shown.

/** tabs: [{ id, title, make() }]; returns show(id), which is false for an unknown one. */
function analysisTabs(holder, tabs) {
  const made = new Set();
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Analyses" });
  const parts = tabs.map(({ id, title }, i) => {
    const tab = h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": id,
        onclick: () => show(id),
        onkeydown: (event) => onKey(event, i),
      },
      title,
    );
    const panel = h("div", { id, role: "tabpanel", "aria-labelledby": `tab-${id}`, tabindex: -1 });
    list.append(tab);
    return { tab, panel };
  });

  function show(wanted) {
    const chosen = tabs.findIndex(({ id }) => id === wanted);
    if (chosen < 0) return false;
    parts.forEach(({ tab, panel }, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panel.hidden = i !== chosen;
    });
    if (!made.has(wanted)) {
      made.add(wanted);
      parts[chosen].panel.append(
        ...[tabs[chosen].make()].flat().filter((element) => element !== null),
      );
    }
    return true;
  }

  function onKey(event, i) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (i + step + tabs.length) % tabs.length;
    show(tabs[next].id);
    parts[next].tab.focus();
  }

  holder.append(list, ...parts.map(({ panel }) => panel));
  if (tabs.length) show(tabs[0].id);
  return show;
}

/** The analyses there are, in the order of the tabs. */
function analyses(open, openGene) {
  const all = [
    ["contrasts", "Contrasts", DATA.contrasts.comparisons.length, () => contrastsView(open)],
    [
      "associations",
      "Associations",
      DATA.associations.columns.length,
      () => associationsView(open),
    ],
    ["lists", "Known lists", DATA.known_lists.length, () => listsView(open, openGene)],
    ["measured", "Measured regulators", DATA.measured.rows.length, () => measuredView(open)],
  ];
  return all.filter(([, , n]) => n).map(([id, title, , make]) => ({ id, title, make }));
}

/** A sentence on rows that the page does not hold, or "". */
const leftOut = (n) =>
  n ? ` ${count(n)} less significant results are left out of this page.` : "";
