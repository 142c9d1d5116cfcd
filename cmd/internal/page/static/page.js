// What htmx leaves to us. The page works without this file, and without htmx.
(() => {
  "use strict";
  // After a view was put in place of another the focus goes to what is new, so that a screen reader tells it and the
  // keyboard goes on from there.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target !== document.body) return;
    const heading = document.querySelector("[data-focus]") || document.getElementById("main");
    if (!heading || document.querySelector("[autofocus]")) return;
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: heading.tagName === "H1" });
  });
  // Without an answer htmx says nothing.
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => {
      const main = document.getElementById("main");
      if (main) main.classList.add("unreached");
    });
  }
})();
