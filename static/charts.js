// Tooltips and links of charts. The values come from the chart's data table.
"use strict";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const AXIS_HEIGHT_PX = 44;
const TOOLTIP_GAP_PX = 14;

for (const chart of document.querySelectorAll(".chart")) {
  const plot = chart.querySelector(".plot");
  const table = chart.parentElement.querySelector(".chart-data table");
  const pointCount = Number(plot.dataset.pointCount);
  if (!table || !pointCount) continue;
  const columnNames = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  const { rows } = table.tBodies[0];
  const getRow = (index) => rows["newestFirst" in table.dataset ? pointCount - 1 - index : index];
  // Points are in the middle of equal bands, or the first and last are at the edges of the plot.
  const hasPointsAtEdges = "pointsAtEdges" in plot.dataset && pointCount > 1;
  const bandCount = hasPointsAtEdges ? pointCount - 1 : pointCount;
  const getBandStart = (index) => (hasPointsAtEdges ? index - 0.5 : index) / bandCount;
  const hoverBand = document.createElementNS(SVG_NAMESPACE, "rect");
  hoverBand.classList.add("hover-band");
  hoverBand.setAttribute("width", `${100 / bandCount}%`);
  hoverBand.setAttribute("height", plot.getAttribute("height") - AXIS_HEIGHT_PX);

  // Browsers show an SVG title as a tooltip of their own, so it becomes a label for screen readers.
  plot.setAttribute("aria-label", plot.querySelector("title").textContent);
  plot.setAttribute("aria-description", plot.querySelector("desc").textContent);
  plot.removeAttribute("aria-labelledby");
  plot.querySelector("title").remove();

  const tooltip = document.createElement("div");
  tooltip.className = "chart-tooltip";
  tooltip.hidden = true;
  tooltip.setAttribute("role", "status");
  chart.append(tooltip);
  let activeIndex = -1;

  const hideTooltip = () => {
    activeIndex = -1;
    tooltip.hidden = true;
    hoverBand.remove();
  };
  const buildValueList = (cells) => {
    const list = document.createElement("dl");
    cells.forEach((cell, column) => {
      // With many series zeros are left out; the last column, the total, stays.
      if (/^[0.,]+$/.test(cell.textContent) && columnNames.length > 3 && column < columnNames.length - 1) return;
      const name = document.createElement("dt");
      const value = document.createElement("dd");
      name.textContent = columnNames[column];
      value.textContent = cell.textContent;
      list.append(name, value);
    });
    return list;
  };
  const positionTooltip = () => {
    const chartBox = chart.getBoundingClientRect();
    const plotBox = plot.getBoundingClientRect();
    const pointX = plotBox.left - chartBox.left + (getBandStart(activeIndex) + 0.5 / bandCount) * plotBox.width;
    const fitsOnRight = pointX + TOOLTIP_GAP_PX + tooltip.offsetWidth <= chartBox.width;
    const left = fitsOnRight ? pointX + TOOLTIP_GAP_PX : pointX - TOOLTIP_GAP_PX - tooltip.offsetWidth;
    tooltip.style.left = `${Math.max(0, left)}px`;
    tooltip.style.top = "8px";
  };
  const showTooltip = (index) => {
    if (index === activeIndex) return;
    activeIndex = index;
    hoverBand.setAttribute("x", `${100 * getBandStart(index)}%`);
    plot.append(hoverBand);
    const [heading, ...cells] = getRow(index).cells;
    const title = document.createElement("strong");
    title.textContent = heading.textContent;
    tooltip.replaceChildren(title, buildValueList(cells));
    tooltip.hidden = false;
    positionTooltip();
  };
  const clampIndex = (index) => Math.min(pointCount - 1, Math.max(0, index));
  const getIndexAtPointer = (event) => {
    const plotBox = plot.getBoundingClientRect();
    const position = ((event.clientX - plotBox.left) / plotBox.width) * bandCount;
    return clampIndex(hasPointsAtEdges ? Math.round(position) : Math.floor(position));
  };

  // A click on a bar follows the link of its cell in the table; elsewhere it follows the link of the row.
  const seriesNames = (table.dataset.series ?? "").split(" ");
  const findLink = (event) => {
    const row = getRow(getIndexAtPointer(event));
    const seriesName = (event.target.classList?.value ?? "").match(/(?:^| )s-(\S+)/)?.[1];
    const cell = seriesName && row.cells[1 + seriesNames.indexOf(seriesName)];
    return (cell ?? row).querySelector("a[href]");
  };
  if (table.tBodies[0].querySelector("a[href]")) {
    plot.classList.add("clickable");
    plot.addEventListener("click", (event) => findLink(event)?.click());
  }

  plot.addEventListener("pointermove", (event) => showTooltip(getIndexAtPointer(event)));
  plot.addEventListener("pointerleave", hideTooltip);
  plot.tabIndex = 0;
  plot.addEventListener("blur", hideTooltip);
  plot.addEventListener("keydown", (event) => {
    const last = pointCount - 1;
    const isHidden = activeIndex < 0;
    const nextIndex = { ArrowLeft: isHidden ? last : activeIndex - 1, ArrowRight: activeIndex + 1, Home: 0, End: last }[event.key];
    if (nextIndex !== undefined) {
      event.preventDefault();
      showTooltip(clampIndex(nextIndex));
    } else if (event.key === "Enter" && !isHidden) getRow(activeIndex).querySelector("a[href]")?.click();
    else if (event.key === "Escape") hideTooltip();
  });
}
