// On a small screen the facets begin closed; without scripts they are open.
(() => {
  const narrow = matchMedia("(max-width: 48rem)");
  const fold = () => { for (const one of document.querySelectorAll("details.facets")) one.open = !narrow.matches; };
  addEventListener("DOMContentLoaded", fold);
  document.addEventListener("htmx:afterSwap", () => { if (narrow.matches) fold(); });
})();
