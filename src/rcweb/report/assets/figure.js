// A figure draws itself for its width, and can be saved as SVG and PNG.

/**
 * `draw(width)` gives an svg element, made anew for every width, so that text keeps its size on a
 * phone. `name` is that of its files; `whole(width)` draws what is saved, if that is more.
 */
function figure(draw, { name, caption = null, whole = draw }) {
  const canvas = h("div", { class: "plot" });
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== last) canvas.replaceChildren(draw((last = width)));
  }).observe(canvas);
  const tools = figureTools(name, () => styledSvg(whole(Math.max(last, 480))));
  return h("figure", {}, canvas, h("figcaption", {}, h("span", {}, caption ?? ""), tools));
}

/** Two small buttons; `picture()` gives an svg element with its colours in it. */
function figureTools(name, picture) {
  const save = (kind, how) =>
    button(
      kind,
      "tool",
      () => how(`${name}.${kind.toLowerCase()}`, picture()),
      `Save ${name} as ${kind}`,
    );
  return h("span", { class: "tools" }, "↓ ", save("SVG", saveSvg), save("PNG", savePng));
}

// What an element has if nothing is said; only what differs is written.
const STYLE_DEFAULTS = {
  fill: "rgb(0, 0, 0)",
  "fill-opacity": "1",
  opacity: "1",
  stroke: "none",
  "stroke-dasharray": "none",
  "stroke-width": "1px",
};
const FONT_PROPERTIES = ["font-family", "font-size", "font-weight"];

/** The colours of the style sheet written into the elements, on the colour of the page. */
function styledSvg(svg) {
  // Styles are known only of elements on the page.
  const holder = h("div", { class: "plot off-page", "aria-hidden": "true" }, svg);
  document.body.append(holder);
  for (const element of svg.querySelectorAll("line, rect, circle, path, text")) {
    const style = getComputedStyle(element);
    for (const [property, usual] of Object.entries(STYLE_DEFAULTS)) {
      const value = style.getPropertyValue(property);
      if (value !== usual) element.setAttribute(property, value);
    }
    if (element.tagName === "text")
      for (const property of FONT_PROPERTIES)
        element.setAttribute(property, style.getPropertyValue(property));
    element.removeAttribute("class");
  }
  holder.remove();
  svg.prepend(
    s("rect", { width: "100%", height: "100%", fill: colour("surface"), stroke: "none" }),
  );
  return svg;
}

const svgText = (svg) => new XMLSerializer().serializeToString(svg);

function saveSvg(name, svg) {
  download(name, svgText(svg), "image/svg+xml");
}

/** At twice the size, for print, as far as browsers can paint pictures that large. */
function savePng(name, svg) {
  const sides = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const zoom = Math.min(2, 15_000 / Math.max(...sides));
  const [width, height] = sides.map((side) => Math.round(zoom * side));
  const picture = new Image();
  picture.addEventListener("load", () => {
    const canvas = h("canvas", { width, height });
    canvas.getContext("2d").drawImage(picture, 0, 0, width, height);
    canvas.toBlob((blob) => download(name, blob));
  });
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
}

/** A pen that writes SVG where a canvas paints; it knows what the drawing of the network uses. */
function svgPen({ width, height }) {
  const svg = frame(width, height, "Network");
  const ruler = h("canvas").getContext("2d");
  const at = (x) => Number(x.toFixed(1));
  let path = "";
  const add = (tag, attributes, ...text) => svg.append(s(tag, attributes, ...text));
  const font = (pen) => {
    const [, weight, size] = /^(\d+ )?(\d+)px/.exec(pen.font) ?? [null, "400", "12"];
    return {
      "font-size": size,
      "font-weight": (weight ?? "400").trim(),
      "font-family": "sans-serif",
    };
  };
  return {
    svg,
    globalAlpha: 1,
    clearRect: () => undefined,
    beginPath: () => {
      path = "";
    },
    moveTo: (x, y) => {
      path += `M${at(x)} ${at(y)}`;
    },
    lineTo: (x, y) => {
      path += `L${at(x)} ${at(y)}`;
    },
    arc: (x, y, r) => {
      path += `a${r} ${r} 0 1 0 ${-2 * r} 0a${r} ${r} 0 1 0 ${2 * r} 0`;
    },
    measureText(text) {
      ruler.font = this.font;
      return ruler.measureText(text);
    },
    stroke() {
      const stroke = { stroke: this.strokeStyle, "stroke-width": this.lineWidth };
      if (path) add("path", { d: path, fill: "none", ...stroke, opacity: this.globalAlpha });
    },
    fill() {
      if (path) add("path", { d: path, fill: this.fillStyle, opacity: this.globalAlpha });
    },
    strokeText(text, x, y) {
      const stroke = { stroke: this.strokeStyle, "stroke-width": this.lineWidth, fill: "none" };
      add(
        "text",
        { x: at(x), y: at(y) + 4, "stroke-linejoin": "round", ...stroke, ...font(this) },
        text,
      );
    },
    fillText(text, x, y) {
      add("text", { x: at(x), y: at(y) + 4, fill: this.fillStyle, ...font(this) }, text);
    },
  };
}
