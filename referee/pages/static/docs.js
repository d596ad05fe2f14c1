// The search on the page with all documents: sections that have every word, those with all in the heading first.
"use strict";
{
  const MAX_HITS = 50;
  const sections = JSON.parse(document.getElementById("sections").textContent);
  const query = document.getElementById("query");
  const hits = document.getElementById("hits");
  const count = document.getElementById("count");
  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
    return (at ? "…" : "") + text.slice(at, at + 180) + (at + 180 < text.length ? "…" : "");
  };
  const hit = (section, words) => {
    const link = document.createElement("a");
    link.href = `${section.page}.html#${section.anchor}`;
    link.textContent = section.title === section.of ? section.of : `${section.of}: ${section.title}`;
    const text = document.createElement("p");
    text.className = "soft small";
    text.textContent = excerpt(section.text, words[0]);
    const item = document.createElement("li");
    item.append(link, text);
    return item;
  };
  const search = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => words.every((word) => text.toLowerCase().includes(word));
    const inTitle = words.length ? sections.filter((section) => has(section.title)) : [];
    const inText = words.length
      ? sections.filter((section) => !has(section.title) && has(`${section.title} ${section.text}`))
      : [];
    const found = [...inTitle, ...inText];
    hits.replaceChildren(...found.slice(0, MAX_HITS).map((section) => hit(section, words)));
    hits.hidden = !found.length;
    document.getElementById("documents").hidden = words.length > 0;
    count.textContent = !words.length ? "" : found.length === 1 ? "1 section" : `${found.length} sections`;
  };
  query.addEventListener("input", search);
  search();
}
