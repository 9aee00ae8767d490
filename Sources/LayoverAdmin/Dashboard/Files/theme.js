// @ts-check
// Runs before the first paint, so that no wrong colours are seen. Not a module: those run later.
(() => {
  const root = document.documentElement;
  root.dataset.js = "on";
  try {
    const theme = localStorage.getItem("layover-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Without storage the theme is that of the system.
  }
})();
