// The graph of a replay: what each bot gives itself, the time of each move, and the marks of steps at which
// something went wrong. A click or a drag chooses a step.
"use strict";

/**
 * Shows the graph of a view in an `<svg>`, as wide as that is, and draws it again where the width changes.
 * @returns {{at(step: number): void, close(): void}} `at` moves the cursor to a step
 */
function mountGraph(svg, game, stepLines, marks, choose) {
  const LEFT = 50;
  const RIGHT = 8;
  const HALF_OF_PAPER = 310;
  const lines = stepLines.flatMap((each, step) => each.map((line) => ({ ...line, step })));
  const said = lines.filter((line) => line.value !== undefined);
  const timed = lines.filter((line) => line.used_us !== undefined);
  const last = Math.max(1, stepLines.length - 1);
  /** Heights: of the values, a gap, of the times, and of the marks. */
  const top = said.length ? 92 : 0;
  const gap = said.length ? 12 : 6;
  const bars = timed.length ? 52 : 0;
  const floor = top + gap + bars;
  const hasMarks = marks.some((each) => each.length);
  const height = floor + (hasMarks ? 18 : 4);
  const allowances = new Set(game.clocks.map((clock) => clock?.move_us ?? 0));
  const allowance = allowances.size === 1 ? [...allowances][0] : 0;
  const longest = Math.max(1, ...timed.map((line) => line.used_us));
  const scale = Math.max(longest, allowance && longest > allowance / 20 ? allowance : 0);
  let width = 0;
  let current = 0;
  let cursor = null;

  const draw = (tag, attributes, content) => svg.appendChild(makeShape(tag, content, attributes));
  const x = (step) => LEFT + (step / last) * (width - LEFT - RIGHT);
  const y = (share) => 4 + (1 - share) * (top - 8);
  /** On a scale of roots, so that short times are seen beside long ones. */
  const tall = (us) => bars * Math.sqrt(Math.min(1, us / scale));

  function drawValues() {
    const two = game.bots.length === 2;
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
    if (two) {
      for (const [seat, at] of [[1, 16], [2, top - 7]]) {
        const name = game.bots[seat - 1];
        const text = `${name.length > 24 ? `${name.slice(0, 23)}…` : name} wins`;
        draw("text", { class: "side", x: LEFT + 6, y: at }, text);
      }
    }
  }

  function drawTimes() {
    const thick = Math.max(1.5, Math.min(14, (width - LEFT - RIGHT) / last - 1.5));
    const base = top + gap + bars;
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
    draw("text", { class: "label", x: LEFT - 5, y: top + gap + 9 }, timeText(scale).replace(" ", "\u2009"));
  }

  function redraw(wide = svg.clientWidth) {
    width = wide;
    if (width < LEFT + RIGHT + 10) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    if (said.length) drawValues();
    if (timed.length) drawTimes();
    marks.forEach((each, step) => {
      if (!each.length) return;
      const worst = each.find((mark) => mark.kind === "bad") ?? each[0];
      draw("text", { class: `sign ${worst.kind}`, x: x(step), y: height - 3 }, worst.sign);
    });
    cursor = draw("line", { class: "cursor", y1: 0, y2: floor + 2 });
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
  svg.classList.toggle("empty", !timed.length && !said.length);
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
