// Says what stands under the pointer; arrow keys do the same. Without it the browser's own tooltips do.
"use strict";

for (const chart of document.querySelectorAll(".chart")) {
  const plot = chart.querySelector(".plot");
  const hits = [...plot.querySelectorAll(".hit")];
  if (!hits.length) continue;
  const sayings = hits.map((hit) => {
    const text = hit.querySelector("title").textContent;
    hit.replaceChildren();
    return text.split("\n");
  });
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
    hits[shown]?.classList.remove("on");
    shown = -1;
    tip.hidden = true;
  };
  const show = (index) => {
    if (index === shown || index < 0 || index >= hits.length) return;
    hits[shown]?.classList.remove("on");
    shown = index;
    hits[index].classList.add("on");
    const [heading, ...lines] = sayings[index];
    const title = document.createElement("strong");
    title.textContent = heading;
    const list = document.createElement("dl");
    for (const line of lines) {
      const cut = line.indexOf(": ");
      const name = document.createElement("dt");
      const value = document.createElement("dd");
      name.textContent = line.slice(0, cut);
      value.textContent = line.slice(cut + 2);
      list.append(name, value);
    }
    tip.replaceChildren(title, list);
    tip.hidden = false;
    const around = chart.getBoundingClientRect();
    const at = hits[index].getBoundingClientRect();
    const middle = at.left + at.width / 2 - around.left;
    const right = middle + 14 + tip.offsetWidth <= around.width;
    tip.style.left = Math.max(0, right ? middle + 14 : middle - 14 - tip.offsetWidth) + "px";
    tip.style.top = "8px";
  };

  plot.addEventListener("pointermove", (event) => {
    const at = plot.getBoundingClientRect();
    const edges = hits[0].getBoundingClientRect();
    show(Math.min(hits.length - 1, Math.max(0, Math.floor((event.clientX - edges.left) / edges.width))));
  });
  plot.addEventListener("pointerleave", hide);
  plot.tabIndex = 0;
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const last = hits.length - 1;
    const to = { ArrowLeft: shown < 0 ? last : shown - 1, ArrowRight: shown < 0 ? 0 : shown + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      show(Math.min(last, Math.max(0, to)));
    } else if (event.key === "Escape") hide();
  });
}
