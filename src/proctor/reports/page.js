"use strict";
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  document.documentElement.classList.add("js");
  let bodies = [...table.tBodies];
  const filters = [...document.querySelectorAll("[data-filter]")];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const more = document.getElementById("more");
  document.querySelector(".controls").hidden = false;

  // The text of a test is looked up when it is first searched for.
  const texts = new Map();
  const textOf = (body) => {
    if (!texts.has(body)) texts.set(body, body.textContent.toLowerCase());
    return texts.get(body);
  };

  // Thousands of rows are slow to lay out; so many are shown before somebody asks for more.
  const PORTION = 250;
  let wanted = "";
  let most = PORTION;
  const narrow = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const body of bodies) {
      const fits =
        (!wanted || (wanted === "flaky" ? body.dataset.flaky : body.dataset.status === wanted)) &&
        words.every((word) => textOf(body).includes(word));
      count += Boolean(fits);
      body.hidden = !fits || count > most;
    }
    const tests = bodies.length === 1 ? "1 test" : `${bodies.length} tests`;
    shown.textContent = count === bodies.length ? tests : `${count} of ${tests}`;
    nothing.hidden = count > 0;
    more.hidden = count <= most;
    more.textContent = `Show ${Math.min(PORTION * 4, count - most)} of ${count - most} more`;
  };
  more.addEventListener("click", () => {
    most += PORTION * 4;
    narrow();
  });
  for (const button of filters) {
    button.addEventListener("click", () => {
      wanted = button.dataset.filter;
      most = PORTION;
      for (const other of filters) other.setAttribute("aria-pressed", String(other === button));
      narrow();
    });
  }
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(narrow, 120);
  });

  const keyOf = (body, name) => {
    if (name === "outcome") return Number(body.dataset.place);
    const cell = body.rows[0].querySelector(`.${name}`);
    if ("value" in cell.dataset) return cell.dataset.value === "none" ? null : Number(cell.dataset.value);
    return cell.textContent;
  };
  const inOrder = new Intl.Collator(undefined, { numeric: true });
  const sort = (head, name) => {
    const isDown = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const keyed = bodies.map((body) => [keyOf(body, name), body]);
    keyed.sort(([one], [two]) => {
      if (one === null || two === null) return (one === null) - (two === null);
      const order = typeof one === "number" ? one - two : inOrder.compare(one, two);
      return isDown ? -order : order;
    });
    bodies = keyed.map(([, body]) => body);
    narrow();
    table.append(...bodies);
  };
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head, head.dataset.sort));
    head.replaceChildren(button);
  }

  // Of a test that passed, the line below is there only while it is open.
  const open = (body, isOpen) => {
    const below = body.rows[1];
    below.classList.toggle("open", isOpen);
    below.querySelector("details").open = isOpen;
  };
  for (const body of bodies) {
    if (body.dataset.status !== "pass") continue;
    const name = body.rows[0].querySelector(".name");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "name";
    button.textContent = name.textContent;
    button.setAttribute("aria-expanded", "false");
    name.replaceWith(button);
    body.rows[0].addEventListener("click", () => {
      if (String(getSelection())) return;
      const isOpen = !body.rows[1].classList.contains("open");
      open(body, isOpen);
      button.setAttribute("aria-expanded", String(isOpen));
    });
  }
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || !bodies.includes(target)) return;
    target.hidden = false;
    open(target, true);
  };
  addEventListener("hashchange", follow);
  narrow();
  follow();
})();
