// The graph of a replay: what each bot gives itself, how far one is ahead in what the game counts, the time of each
// move, and the marks of steps. A click or a drag chooses a step.
"use strict";

/** What the graph of a view shows, in words. */
function graphTitle(game, { analysis }, stepLines) {
  const isSaid = stepLines.flat().some((line) => line.value !== undefined);
  const isEstimated = (analysis?.chances ?? []).some((chance) => chance !== null);
  const chances = isSaid && isEstimated ? `chance to win (pale: ${analysis.estimated})` : isEstimated ? `chance to win (${analysis.estimated})` : "chance to win";
  const parts = [
    ...(hasProofs(analysis) ? ["proofs (high: won, flat: lost)"] : []),
    ...(isSaid || isEstimated ? [chances] : []),
    ...(hasLeads(game) ? [`${game.lead.of} ahead`] : []),
    "time per move",
  ];
  const text = parts.join(", ");
  return text[0].toUpperCase() + text.slice(1);
}

/** Whether something is proved of a game. */
const hasProofs = (analysis) => (analysis?.proofs ?? []).some((proof) => proof !== null);

/** Whether some seat is ahead of others in what the game counts. */
const hasLeads = (game) => (game.lead?.steps ?? []).flat().some((lead) => lead !== null);

/**
 * Shows the graph of a view in an `<svg>`, as wide as that is, and draws it again where the width changes.
 * @returns {{at(step: number): void, close(): void}} `at` moves the cursor to a step
 */
function mountGraph(svg, game, { analysis }, numbers, stepLines, marks, choose) {
  const LEFT = 50;
  const RIGHT = 8;
  const HALF_OF_PAPER = 310;
  const lines = stepLines.flatMap((each, step) => each.map((line) => ({ ...line, step })));
  const said = lines.filter((line) => line.value !== undefined);
  const timed = lines.filter((line) => line.used_us !== undefined);
  const last = Math.max(1, stepLines.length - 1);
  const leads = game.lead?.steps ?? [];
  const hasLead = hasLeads(game);
  const all = game.bots.length === 2 ? leads.map((each) => each[0]) : leads.flat();
  const [least, most] = [Math.min(0, ...all), Math.max(all.some((lead) => lead) ? 0 : 1, ...all)];
  /** What is proved, and the chance in percent, by step; a position on the way to one has what it has. */
  const [proofs, chances] = ["proofs", "chances"].map((name) => numbers.map((number) => analysis?.[name][number] ?? null));
  const hasChances = chances.some((chance) => chance !== null);
  /** The height of what is proved of one seat, and of the band of both. */
  const PROOF = 14;
  const band = hasProofs(analysis) ? 2 * PROOF + 6 : 0;
  /** Heights: of the values, where the lead begins, of the lead, where the times end. */
  const top = said.length || hasChances ? band + 92 : 0;
  const upper = top ? top + 12 : band;
  const ahead = hasLead ? (top ? 64 : 80) : 0;
  const bars = timed.length ? 52 : 0;
  const base = (hasLead ? upper + ahead : top || band) + (top + ahead ? 12 : 6) + bars;
  const hasMarks = marks.some((each) => each.length);
  const height = base + (hasMarks ? 18 : 4);
  const allowances = new Set(game.clocks.map((clock) => clock?.move_us ?? 0));
  const allowance = allowances.size === 1 ? [...allowances][0] : 0;
  const longest = Math.max(1, ...timed.map((line) => line.used_us));
  const scale = Math.max(longest, allowance && longest > allowance / 20 ? allowance : 0);
  let width = 0;
  let current = 0;
  let cursor = null;

  const draw = (tag, attributes, content) => svg.appendChild(makeShape(tag, content, attributes));
  const x = (step) => LEFT + (step / last) * (width - LEFT - RIGHT);
  const y = (share) => band + 4 + (1 - share) * (top - band - 8);
  /** On a scale of roots, so that short times are seen beside long ones. */
  const tall = (us) => bars * Math.sqrt(Math.min(1, us / scale));
  const two = game.bots.length === 2;

  /** Of two bots, what is theirs below an upper edge and above a lower one, as far as there is one. */
  function drawSides(what, upper, lower) {
    for (const [seat, edge, by] of [[1, upper, 16], [2, lower, -7]]) {
      const name = game.bots[seat - 1];
      if (edge === false) continue;
      draw("text", { class: "side", x: LEFT + 6, y: edge + by }, `${name.length > 24 ? `${name.slice(0, 23)}…` : name}${what}`);
    }
  }

  /** The stretch of the graph that is a step's. */
  const stretch = (step) => {
    const from = x(Math.max(0, step - 0.5));
    return { x: from.toFixed(1), width: (x(Math.min(last, step + 0.5)) - from).toFixed(1) };
  };

  /** What is proved, a row for each seat: high where it wins with best play, flat where it loses, half as high for a
   *  draw, dotted where it is open. */
  function drawProofs() {
    game.bots.forEach((name, index) => {
      const floor = (index + 1) * (PROOF + 2);
      draw("text", { class: "label", x: LEFT - 5, y: floor - 2 }, `seat ${index + 1}`);
      proofs.forEach((proof, step) => {
        const place = stretch(step);
        if (proof === null) {
          const [x1, x2] = [Number(place.x), Number(place.x) + Number(place.width)];
          draw("line", { class: "open-proof", x1, x2, y1: floor - PROOF / 2, y2: floor - PROOF / 2 });
          return;
        }
        const own = index ? -proof : proof;
        const high = own > 0 ? PROOF : own < 0 ? 2 : PROOF / 2;
        const words = `${name} ${["loses", "draws", "wins"][own + 1]} with best play (proved)`;
        draw("rect", { class: `proof of-seat${index + 1}`, ...place, y: floor - high, height: high }, makeShape("title", words));
      });
    });
  }

  /** The estimate of seat 1, with gaps, grey, where nothing can be said. */
  function drawChances() {
    let d = "";
    chances.forEach((chance, step) => {
      const place = stretch(step);
      if (chance === null) {
        if (proofs[step] === null) draw("rect", { class: "open", ...place, y: y(1), height: y(0) - y(1) });
        return;
      }
      d += `${(chances[step - 1] ?? null) === null ? `M${place.x} ` : "V"}${y(chance / 100).toFixed(1)}H${Number(place.x) + Number(place.width)}`;
    });
    draw("path", { class: "estimate", d });
  }

  function drawValues() {
    draw("line", { class: "middle", x1: LEFT, x2: width - RIGHT, y1: y(0.5), y2: y(0.5) });
    for (const [share, text] of [[1, "100"], [0.5, "50"], [0, "0 %"]]) {
      draw("text", { class: "label", x: LEFT - 5, y: y(share) + 4 }, text);
    }
    game.bots.forEach((_, index) => {
      const own = said.filter((line) => line.seat === index + 1);
      const points = own.map((line) => {
        const share = two && index === 1 ? 1 - line.value : line.value;
        return `${x(line.step).toFixed(1)} ${y(share).toFixed(1)}`;
      });
      if (points.length > 1) draw("path", { class: `own-line of-seat${index + 1}`, d: `M${points.join(" ")}` });
      if (points.length) {
        const [cx, cy] = points.at(-1).split(" ");
        draw("circle", { class: `of-seat${index + 1}`, cx, cy, r: 4 });
      }
    });
    if (two) drawSides(" wins", band, top);
  }

  /** The lead changes at once, so that its line has steps. Of two bots it is that of the first, which is below 0 where
   *  the other one is ahead. */
  function drawLead() {
    const high = (lead) => upper + 4 + ((most - lead) / (most - least)) * (ahead - 8);
    /** A line through the leads of all steps, each as wide as its step, with gaps where there is none. */
    const course = (values) => values.map((lead, step) => {
      if (lead === null) return "";
      const from = x(Math.max(0, step - 0.5)).toFixed(1);
      return `${(values[step - 1] ?? null) === null ? `M${from} ` : "V"}${high(lead).toFixed(1)}H${x(Math.min(last, step + 0.5)).toFixed(1)}`;
    }).join("");
    draw("line", { class: "middle", x1: LEFT, x2: width - RIGHT, y1: high(0), y2: high(0) });
    for (const lead of new Set([most, 0, least])) {
      if (lead && Math.abs(high(lead) - high(0)) < 12) continue;
      draw("text", { class: "label", x: LEFT - 5, y: high(lead) + 4 }, two ? Math.abs(lead) : `${lead}`.replace("-", "−"));
    }
    if (two) {
      const first = leads.map((each) => each[0]);
      for (const [seat, part] of [[1, first.map((lead) => Math.max(0, lead))], [2, first.map((lead) => Math.min(0, lead))]]) {
        draw("path", { class: `ahead of-seat${seat}`, d: `${course(part)}V${high(0)}H${x(0)}Z` });
      }
      draw("path", { class: "lead-line", d: course(first) });
      const [above, below] = [high(0) - high(most), high(least) - high(0)].map((room) => room > 18);
      drawSides(`: ${game.lead.of} ahead`, above && upper, below && upper + ahead);
    } else {
      game.bots.forEach((_, index) => draw("path", { class: `own-line of-seat${index + 1}`, d: course(leads.map((each) => each[index])) }));
    }
  }

  function drawTimes() {
    const thick = Math.max(1.5, Math.min(14, (width - LEFT - RIGHT) / last - 1.5));
    for (const line of timed) {
      const whole = tall(line.used_us);
      const within = allowance ? Math.min(whole, tall(allowance)) : whole;
      const place = { x: (x(line.step) - thick / 2).toFixed(1), width: thick.toFixed(1) };
      const title = makeShape("title", `${game.bots[line.seat - 1]}: ${timeText(line.used_us)}`);
      draw("rect", { class: `of-seat${line.seat}`, ...place, y: base - within, height: within }, title);
      if (whole > within) draw("rect", { class: "over", ...place, y: base - whole, height: whole - within });
    }
    if (allowance && allowance <= scale) {
      const at = base - tall(allowance);
      draw("line", { class: "allowance", x1: LEFT, x2: width - RIGHT, y1: at, y2: at });
    }
    draw("text", { class: "label", x: LEFT - 5, y: base - bars + 9 }, timeText(scale).replace(" ", "\u2009"));
  }

  function redraw(wide = svg.clientWidth) {
    width = wide;
    if (width < LEFT + RIGHT + 10) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    if (band) drawProofs();
    if (hasChances) drawChances();
    if (top) drawValues();
    if (hasLead) drawLead();
    if (timed.length) drawTimes();
    marks.forEach((each, step) => {
      if (!each.length) return;
      const [first] = ["deciding", "bad", "warn"].map((kind) => each.find((mark) => mark.kind === kind)).filter(Boolean);
      if (first.kind === "deciding") draw("line", { class: "deciding", x1: x(step), x2: x(step), y1: 0, y2: base });
      draw("text", { class: `sign ${first.kind}`, x: x(step), y: height - 3 }, first.sign);
    });
    cursor = draw("line", { class: "cursor", y1: 0, y2: base + 2 });
    move();
  }

  function move() {
    cursor?.setAttribute("x1", x(current));
    cursor?.setAttribute("x2", x(current));
  }

  const listening = new AbortController();
  const point = (event) => {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const at = event.clientX - svg.getBoundingClientRect().left;
    choose(Math.max(0, Math.min(last, Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * last))));
  };
  for (const name of ["pointerdown", "pointermove"]) {
    svg.addEventListener(name, point, { signal: listening.signal });
  }
  svg.style.height = `${height}px`;
  svg.classList.toggle("empty", !timed.length && !top && !band && !hasLead);
  // Letters drawn for a screen would shrink on paper, where two games stand beside each other.
  addEventListener("beforeprint", () => svg.closest(".half") && redraw(HALF_OF_PAPER), { signal: listening.signal });
  addEventListener("afterprint", () => redraw(), { signal: listening.signal });
  const watching = new ResizeObserver(() => {
    if (svg.clientWidth !== width) redraw();
  });
  watching.observe(svg);
  redraw();
  return {
    at(step) {
      current = step;
      move();
    },
    close() {
      watching.disconnect();
      listening.abort();
    },
  };
}
