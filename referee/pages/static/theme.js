// The button that changes between light and dark: `data-theme` on the root element, which stylesheets obey.
"use strict";
{
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = () =>
    (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
  };
  const stored = (theme) => {
    try {
      if (theme) localStorage.setItem("theme", theme);
      return localStorage.getItem("theme");
    } catch {
      return null; // the browser keeps nothing for pages such as this one
    }
  };
  const kept = stored();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    stored(root.dataset.theme);
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  button.hidden = false;
}
