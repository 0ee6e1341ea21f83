// Before anything is painted: the theme that was chosen here, if any. Else the system's is taken (app.css).
(() => {
  let theme = null;
  try { theme = localStorage.getItem('kafkastub-theme'); } catch { /* no storage: the system's theme */ }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
