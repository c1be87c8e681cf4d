// Sets the chosen theme before anything is drawn. Without a choice the system's holds.
try {
  const chosen = localStorage.getItem("engram.theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // Storage that is switched off: the system's theme holds.
}
