// Says what stands under the pointer, from the chart's own table; arrow keys do the same.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

for (const chart of document.querySelectorAll(".chart")) {
  const plot = chart.querySelector(".plot");
  const table = chart.parentElement.querySelector(".numbers table");
  const places = Number(plot.dataset.places);
  if (!table || !places) continue;
  const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  const rows = table.tBodies[0].rows;
  const row = (index) => rows["newestFirst" in table.dataset ? places - 1 - index : index];
  const atEdges = "edges" in plot.dataset && places > 1;
  const strip = document.createElementNS(SVG, "rect");
  strip.classList.add("strip");
  strip.setAttribute("width", `${100 / (atEdges ? places - 1 : places)}%`);
  strip.setAttribute("height", plot.getAttribute("height") - 44);
  const left = (index) => (atEdges ? (index - 0.5) / (places - 1) : index / places);

  // The plot's own title would show as a tooltip too: it stays for those who listen.
  plot.setAttribute("aria-label", plot.querySelector("title").textContent);
  plot.setAttribute("aria-description", plot.querySelector("desc").textContent);
  plot.removeAttribute("aria-labelledby");
  plot.querySelector("title").remove();

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  chart.append(tip);
  let shown = -1;

  const hide = () => {
    shown = -1;
    tip.hidden = true;
    strip.remove();
  };
  const show = (index) => {
    if (index === shown || index < 0 || index >= places) return;
    shown = index;
    strip.setAttribute("x", `${100 * left(index)}%`);
    plot.append(strip);
    const [heading, ...cells] = row(index).cells;
    const title = document.createElement("strong");
    title.textContent = heading.textContent;
    const list = document.createElement("dl");
    cells.forEach((cell, place) => {
      // Where much is said, nothing is left out; but for the sum, which comes last.
      if (/^[0.,]+$/.test(cell.textContent) && names.length > 3 && place < names.length - 1) return;
      const name = document.createElement("dt");
      const value = document.createElement("dd");
      name.textContent = names[place];
      value.textContent = cell.textContent;
      list.append(name, value);
    });
    tip.replaceChildren(title, list);
    tip.hidden = false;
    const around = chart.getBoundingClientRect();
    const drawn = plot.getBoundingClientRect();
    const middle = drawn.left - around.left + (left(index) + 0.5 / (atEdges ? places - 1 : places)) * drawn.width;
    const right = middle + 14 + tip.offsetWidth <= around.width;
    tip.style.left = `${Math.max(0, right ? middle + 14 : middle - 14 - tip.offsetWidth)}px`;
    tip.style.top = "8px";
  };
  const under = (event) => {
    const drawn = plot.getBoundingClientRect();
    const share = (event.clientX - drawn.left) / drawn.width;
    const index = atEdges ? Math.round(share * (places - 1)) : Math.floor(share * places);
    return Math.min(places - 1, Math.max(0, index));
  };

  // A click leads where the table does: from a bar as its cell, else as its row.
  const series = (table.dataset.series ?? "").split(" ");
  const leadsTo = (event) => {
    const found = row(under(event));
    const drawnAs = (event.target.classList?.value ?? "").match(/(?:^| )s-(\S+)/);
    const cell = drawnAs && found.cells[1 + series.indexOf(drawnAs[1])];
    return (cell ?? found).querySelector("a[href]");
  };
  if (table.tBodies[0].querySelector("a[href]")) {
    plot.classList.add("leads");
    plot.addEventListener("click", (event) => leadsTo(event)?.click());
  }

  plot.addEventListener("pointermove", (event) => show(under(event)));
  plot.addEventListener("pointerleave", hide);
  plot.tabIndex = 0;
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const last = places - 1;
    const to = { ArrowLeft: shown < 0 ? last : shown - 1, ArrowRight: shown < 0 ? 0 : shown + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      show(Math.min(last, Math.max(0, to)));
    } else if (event.key === "Enter" && shown >= 0) row(shown).querySelector("a[href]")?.click();
    else if (event.key === "Escape") hide();
  });
}
