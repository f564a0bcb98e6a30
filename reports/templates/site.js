"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const form = at("page-search");

  // What is wider than the window can be reached, and scrolled, with the keyboard.
  addEventListener("load", () => {
    for (const box of document.querySelectorAll(".scroll, .formula, pre"))
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  });
  if (!form) return;

  const words = at("page-words"), count = at("page-count"), hits = at("page-hits");
  const choices = [...form.querySelectorAll("select")];
  const articles = [...document.querySelectorAll("main > article")];
  const chosen = (article) => choices.some((choice) => article.hasAttribute("data-" + choice.dataset.facet));
  const others = [...document.querySelectorAll("main > *")].filter((one) => !articles.includes(one) || !chosen(one));
  const items = articles.filter(chosen).map((article, place) => ({ article, place, title: article.querySelector("h2") }));

  // The text of an article is read when it is first searched: formulas in plain text, too.
  const textOf = (item) => item.text ??= [
    item.article.id, item.article.textContent,
    ...[...item.article.querySelectorAll("[data-text]")].map((formula) => formula.dataset.text),
  ].join(" ").toLowerCase();

  // Ids first (the whole id, then its beginning), then titles, then whatever holds the words.
  const rank = (item, asked) => {
    const id = item.article.id.toLowerCase(), one = asked.join(" ");
    if (id === one) return 0;
    if (one && id.startsWith(one)) return 1;
    if (one && [...item.article.querySelectorAll("section")].some((part) => part.id.toLowerCase() === one)) return 2;
    if (asked.some((word) => id.includes(word))) return 3;
    return asked.every((word) => item.title.textContent.toLowerCase().includes(word)) ? 4 : 5;
  };

  const entry = (item) => {
    const line = document.createElement("li"), link = document.createElement("a");
    link.href = "#" + encodeURIComponent(item.article.id);
    link.textContent = item.article.id;
    line.append(link, " ", item.title.firstChild.textContent.trim(), " ");
    for (const badge of item.article.querySelector(":scope > .badges")?.children ?? []) line.append(badge.cloneNode(true));
    return line;
  };

  const state = () => {
    const held = new URLSearchParams();
    if (words.value.trim()) held.set("q", words.value.trim());
    for (const choice of choices) if (choice.value) held.set(choice.dataset.facet, choice.value);
    return held.toString();
  };

  const show = (write) => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = asked.length > 0 || choices.some((choice) => choice.value);
    const found = items.filter((item) => {
      const right = choices.every((choice) => !choice.value || item.article.dataset[choice.dataset.facet] === choice.value);
      item.article.hidden = !(right && asked.every((word) => textOf(item).includes(word)));
      return !item.article.hidden;
    });
    for (const other of others) other.hidden = active;
    found.sort((one, other) => rank(one, asked) - rank(other, asked) || one.place - other.place);
    hits.hidden = !active;
    hits.replaceChildren(...(active ? found.map(entry) : []));
    count.textContent = found.length + " of " + items.length;
    if (write) history.replaceState(null, "", active ? "#?" + state() : location.href.split("#")[0] + "#");
  };

  // Where the address names a hidden section, the choice gives way to it.
  const follow = () => {
    const hash = location.hash.slice(1);
    if (hash.startsWith("?")) {
      const held = new URLSearchParams(hash.slice(1));
      words.value = held.get("q") ?? "";
      for (const choice of choices) {
        choice.value = held.get(choice.dataset.facet) ?? "";
        if (choice.selectedIndex < 0) choice.value = "";
      }
      show(false);
      return;
    }
    let target = null;
    try { target = at(decodeURIComponent(hash)); } catch { /* no address of ours */ }
    if (target?.closest("[hidden]")) {
      clear();
      target.scrollIntoView();
    }
  };

  const clear = () => {
    words.value = "";
    for (const choice of choices) choice.value = "";
    show(false);
  };

  let waiting;
  words.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => show(true), 120); });
  for (const choice of choices) choice.addEventListener("change", () => show(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => show(true)));
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
    event.preventDefault();
    words.focus();
  });
  form.hidden = false;
  show(false);
  follow();
})();
