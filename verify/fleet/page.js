"use strict";
// Sort, filter, open by a click, and the texts that all hosts share. The page is whole without this.
(() => {
  const table = document.getElementById("hosts");
  const shared = JSON.parse(document.getElementById("texts").textContent);
  const order = new Intl.Collator("en", { numeric: true });
  const hosts = [...table.tBodies].map(body => ({
    body,
    cells: body.rows[0].cells,
    words: (body.rows[0].textContent + " " + body.querySelector("summary").textContent).toLowerCase(),
  }));

  function key(host, column) {
    const cell = host.cells[column];
    if (cell.dataset.n === "race") return cell.dataset.k ? Number(cell.dataset.k) : null;
    const text = cell.textContent.trim();
    return text === "-" ? null : text;
  }

  // What is not known stands last, in both directions.
  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (typeof one === "number" ? one - other : order.compare(one, other));
  }

  function sort(head, column) {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const keyed = hosts.map(host => [key(host, column), host.body]);
    keyed.sort((one, other) => compare(one[0], other[0], sign));
    table.append(...keyed.map(pair => pair[1]));
  }

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });

  const tools = document.getElementById("tools");
  const find = document.getElementById("find");
  const failed = document.getElementById("failed");
  const drifting = document.getElementById("drifting");
  const shown = document.getElementById("shown");

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const host of hosts) {
      const marks = host.body.classList;
      const fits = words.every(word => host.words.includes(word))
        && (!failed.checked || marks.contains("failed"))
        && (!drifting.checked || marks.contains("drifts"));
      host.body.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${hosts.length} shown`;
  }

  tools.addEventListener("input", filter);
  tools.addEventListener("submit", event => event.preventDefault());
  tools.hidden = false;
  filter();

  table.addEventListener("click", event => {
    const row = event.target.closest("tbody > tr:first-child");
    if (!row || String(getSelection())) return;
    const details = row.parentElement.querySelector("details");
    details.open = !details.open;
  });

  function fill(details) {
    const place = details.querySelector(".rest");
    if (!details.open || !place || place.dataset.done) return;
    place.dataset.done = "yes";
    const codes = shared.hosts[Number(details.dataset.h)];
    const list = document.createElement("ul");
    for (let k = 0; k < codes.length; k += 3) {
      const [id, status, said] = codes.slice(k, k + 3).map(code => shared.texts[code]);
      const item = document.createElement("li");
      const name = document.createElement("b");
      name.textContent = id;
      item.append(name, ` ${status}: ${said}`);
      list.append(item);
    }
    place.before(list);
  }

  table.addEventListener("toggle", event => fill(event.target), true);
  for (const details of table.querySelectorAll("details[open]")) fill(details);
})();
