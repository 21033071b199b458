// The timeline of a run on a canvas. Plain JavaScript, no network; the page is complete without it.
//
// Time is nanoseconds since the run began. Events are named by their place in the columns of `data.events`; the number
// that people see (and that #e= takes) is the event's index, which is the same in every history that we recorded.
'use strict';
(() => {
  const problems = [];
  window.addEventListener('error', (event) => problems.push(String(event.message)));

  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(button.previousElementSibling);  // file:// may be refused the clipboard
        button.textContent = 'Selected';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  }

  const element = document.getElementById('data');
  if (!element) return;
  const data = JSON.parse(element.textContent);
  const { events, values, operations, holds, faults, findings, rows } = data;
  const canvas = document.querySelector('canvas');
  const TYPES = ['invoke', 'ok', 'fail', 'info'];
  const OK = 1, FAIL = 2;
  const COUNT = events.time.length;

  const times = new Float64Array(COUNT);
  for (let i = 0, now = 0; i < COUNT; i++) times[i] = (now += events.time[i]);
  const indexOf = (place) => (events.index ? events.index[place] : place);
  const placeOf = (() => {
    if (!events.index) return (index) => (index >= 0 && index < COUNT ? index : -1);
    const places = new Map(events.index.map((index, place) => [index, place]));
    return (index) => places.get(index) ?? -1;
  })();
  const pooled = (column, place) => (events[column][place] < 0 ? undefined : values[events[column][place]]);
  const wholeEvent = (place) => JSON.stringify({
    index: indexOf(place), type: TYPES[events.type[place]],
    process: events.process[place] < 0 ? 'nemesis' : events.process[place],
    f: pooled('f', place), key: pooled('key', place), value: pooled('value', place) ?? null, time: times[place],
    node: pooled('node', place), error: pooled('error', place), ...events.extra[place],
  });

  const END = Math.max(data.end, 1);
  const rowOf = new Map(rows.map((row, number) => [row.process, number]));
  const lanes = rows.map(() => ({ operations: [], holds: [], notes: [] }));
  const operationOf = new Int32Array(COUNT).fill(-1);
  operations.invoke.forEach((invoke, number) => {
    lanes[rowOf.get(events.process[invoke])].operations.push(number);
    operationOf[invoke] = number;
    if (operations.complete[number] >= 0) operationOf[operations.complete[number]] = number;
  });
  holds.acquired.forEach((place, number) => lanes[rowOf.get(events.process[place])].holds.push(number));
  for (let place = 0; place < COUNT; place++) {
    if (events.process[place] >= 0 && operationOf[place] < 0) lanes[rowOf.get(events.process[place])].notes.push(place);
  }
  const operationStart = (number) => times[operations.invoke[number]];
  const operationEnd = (number) => (operations.complete[number] < 0 ? END : times[operations.complete[number]]);
  const outcome = (number) => {  // 0 ok, 1 fail, 2 unknown: the greater is the worse
    const type = operations.complete[number] < 0 ? -1 : events.type[operations.complete[number]];
    return type === OK ? 0 : type === FAIL ? 1 : 2;
  };

  const view = { from: 0, to: END };
  let selected = -1;  // a finding
  let marked = -1;    // an event's place
  const visible = () => ({ from: view.from, to: view.to });
  const summary = { operations: operations.invoke.length, faults: faults.length, findings: findings.length, visible };
  window.report = Object.freeze(summary);
  if (!canvas) {
    finishSelfTest({});
    return;
  }

  const GUTTER = 128, HEAD = 44;
  const rowHeight = rows.length <= 14 ? 34 : rows.length <= 40 ? 22 : 13;
  const height = HEAD + rows.length * rowHeight + 8;
  let width = 0, colours = {};
  const context = canvas.getContext('2d');
  const x = (time) => GUTTER + (time - view.from) / (view.to - view.from) * (width - GUTTER);
  const timeAt = (at) => view.from + (at - GUTTER) / (width - GUTTER) * (view.to - view.from);
  const top = (row) => HEAD + row * rowHeight;

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'ink', 'quiet', 'line', 'bad', 'warn', 'ok', 'fail', 'info', 'hold', 'hold-soft', 'hold-ink',
      'fault', 'fault-edge']) colours[name] = style.getPropertyValue('--' + name).trim();
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  // The first of `list` whose start is at or after `time`, less one: the one before may still reach into the view.
  function firstVisible(list, start, time) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start(list[middle]) < time) low = middle + 1; else high = middle;
    }
    return Math.max(0, low - 1);
  }

  function drawAxis() {
    const span = view.to - view.from;
    let step = 10 ** Math.floor(Math.log10(span / 4));
    for (const factor of [2, 2.5, 2]) if (span / step > 10) step *= factor;
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9)));
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.line;
    context.textAlign = 'center';
    for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
      const at = Math.round(x(tick)) + 0.5;
      context.beginPath();
      context.moveTo(at, 18);
      context.lineTo(at, height);
      context.stroke();
      if (at < width - 20 && at > GUTTER + 14) context.fillText((tick / 1e9).toFixed(digits) + ' s', at, 13);
    }
  }

  function drawFaults() {
    let written = GUTTER;
    context.textAlign = 'left';
    for (const fault of faults) {
      const end = fault.end ?? END;
      if (fault.start > view.to || end < view.from) continue;
      const left = Math.max(x(fault.start), GUTTER), right = Math.max(Math.min(x(end), width), left + 1);
      context.fillStyle = colours.fault;
      if (fault.effective) context.fillRect(left, 18, right - left, height - 18);
      context.fillStyle = colours['fault-edge'];
      context.fillRect(left, 18, 1, height - 18);
      const label = fault.label + (fault.effective ? '' : ' (no effect seen)');
      const room = context.measureText(label).width;
      const at = Math.min(left + 4, width - room - 4);
      if (at < written) continue;
      context.fillStyle = colours.warn;
      context.fillText(label, at, 18 + 13);
      written = at + room + 8;
    }
  }

  function drawHolds(lane, y) {
    let filled = -1;
    for (let i = firstVisible(lane.holds, (n) => times[holds.acquired[n]], view.from); i < lane.holds.length; i++) {
      const number = lane.holds[i];
      const start = times[holds.acquired[number]];
      if (start > view.to) break;
      const end = holds.ended[number] < 0 ? END : times[holds.ended[number]];
      if (end < view.from) continue;
      const left = Math.max(x(start), GUTTER), right = Math.min(x(end), width);
      if (right <= filled) continue;  // below a pixel, and that pixel is painted already
      context.fillStyle = colours['hold-soft'];
      context.fillRect(left, y + 2, Math.max(right - left, 1), rowHeight - 4);
      filled = Math.max(right, left + 1);
      if (right - left < 4) continue;
      context.strokeStyle = colours.hold;
      context.strokeRect(left + 0.5, y + 2.5, right - left - 1, rowHeight - 5);
      const key = String(pooled('key', holds.acquired[number]) ?? '');
      if (rowHeight >= 34 && right - left > 7 * key.length + 8) {
        context.fillStyle = colours['hold-ink'];
        context.fillText(key, left + 4, y + 13);
      }
    }
  }

  // An unknown outcome is solid while it was waited for and fades from there to the end of the run.
  function drawUnknown(number, y, thickness) {
    const left = Math.max(x(operationStart(number)), GUTTER);
    const solid = Math.max(Math.min(x(operationEnd(number)), width), left + 2);
    context.fillStyle = colours.info;
    context.fillRect(left, y, solid - left, thickness);
    const fade = context.createLinearGradient(solid, 0, Math.max(x(END), solid + 1), 0);
    fade.addColorStop(0, colours.info);
    fade.addColorStop(1, 'transparent');
    context.globalAlpha = 0.45;
    context.fillStyle = fade;
    context.fillRect(solid, y + thickness / 4, Math.max(width - solid, 0), thickness / 2);
    context.globalAlpha = 1;
  }

  function drawOperations(lane, y) {
    const thickness = rowHeight >= 34 ? 9 : Math.max(4, rowHeight - 12);
    const barTop = y + rowHeight - thickness - 4;
    const paint = ['ok', 'fail', 'info'];
    let column = -1, worst = 0;
    const flush = () => {
      if (column < 0) return;
      context.fillStyle = colours[paint[worst]];
      context.fillRect(column, barTop, 1, thickness);
      column = -1;
    };
    const unknown = [];
    for (let i = firstVisible(lane.operations, operationStart, view.from); i < lane.operations.length; i++) {
      const number = lane.operations[i], start = operationStart(number);
      if (start > view.to) break;
      const result = outcome(number);
      if (result === 2) unknown.push(number);
      const end = operationEnd(number);
      if (end < view.from || result === 2) continue;
      const left = Math.max(x(start), GUTTER), right = Math.min(x(end), width);
      if (right - left < 1) {
        const pixel = Math.floor(left);
        if (pixel !== column) { flush(); column = pixel; worst = result; } else worst = Math.max(worst, result);
        continue;
      }
      flush();
      context.fillStyle = colours[paint[result]];
      context.fillRect(left, barTop, right - left, thickness);
    }
    flush();
    for (const number of unknown) drawUnknown(number, barTop, thickness);
    context.fillStyle = colours.ink;
    for (let i = firstVisible(lane.notes, (n) => times[n], view.from), last = -9; i < lane.notes.length; i++) {
      const at = x(times[lane.notes[i]]);
      if (at > width) break;
      if (at < GUTTER || at - last < 3) continue;
      last = at;
      context.fillRect(at - 1, barTop - 3, 2, thickness + 6);
    }
  }

  function drawNames() {
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, GUTTER, height);
    context.textAlign = 'right';
    rows.forEach((row, number) => {
      const y = top(number);
      context.fillStyle = colours.line;
      const newNode = number === 0 || rows[number - 1].node !== row.node;
      context.fillRect(newNode ? 0 : GUTTER - 84, y, newNode ? width : GUTTER - 44, 1);
      context.fillStyle = colours.ink;
      context.fillText('process ' + row.process, GUTTER - 10, y + rowHeight / 2 + 4);
      if (!newNode || !row.node) return;
      context.textAlign = 'left';
      context.fillStyle = colours.quiet;
      context.fillText(row.node.length > 6 ? row.node.slice(0, 5) + '…' : row.node, 8, y + rowHeight / 2 + 4);
      context.textAlign = 'right';
    });
    context.fillStyle = colours.line;
    context.fillRect(GUTTER - 1, 0, 1, height);
  }

  function drawMarks() {
    const places = selected >= 0 ? findings[selected].events.map(placeOf).filter((place) => place >= 0) : [];
    if (marked >= 0 && !places.includes(marked)) places.push(marked);
    let written = [];
    context.font = '600 11px system-ui, "DejaVu Sans", sans-serif';
    for (const place of places) {
      const at = x(times[place]);
      if (at < GUTTER || at > width) continue;
      const row = rowOf.get(events.process[place]);
      const y = row === undefined ? 18 : top(row);
      context.strokeStyle = context.fillStyle = colours.bad;
      context.lineWidth = place === marked ? 2.5 : 1.5;
      context.beginPath();
      context.moveTo(at, y);
      context.lineTo(at, row === undefined ? height : y + rowHeight);
      context.stroke();
      context.lineWidth = 1;
      const label = String(indexOf(place)), room = context.measureText(label).width + 6;
      const left = at + room > width ? at - room : at + 3;
      if (written.some((other) => other.y === y && left < other.right && other.left < left + room)) continue;
      written.push({ y, left, right: left + room });
      context.fillStyle = colours.paper;
      context.fillRect(left - 1, y + 1, room - 2, 13);
      context.fillStyle = colours.bad;
      context.textAlign = 'left';
      context.fillText(label, left + 1, y + 11);
    }
  }

  let pending = false;
  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; draw(); });
  }

  function draw() {
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    drawAxis();
    drawFaults();
    context.textAlign = 'left';
    lanes.forEach((lane, row) => {
      drawHolds(lane, top(row));
      drawOperations(lane, top(row));
    });
    drawNames();
    drawMarks();
  }

  function show(from, to) {
    const span = Math.min(Math.max(to - from, 1000), END * 1.04);  // a microsecond is the closest look
    let start = from + (to - from - span) / 2;
    start = Math.min(Math.max(start, -END * 0.02), END * 1.02 - span);
    view.from = start;
    view.to = start + span;
    redraw();
  }
  const zoom = (factor, around = (view.from + view.to) / 2) =>
    show(around - (around - view.from) * factor, around + (view.to - around) * factor);
  const pan = (part) => { const by = (view.to - view.from) * part; show(view.from + by, view.to + by); };
  const whole = () => show(-END * 0.02, END * 1.02);

  function around(places) {
    const seen = places.map((place) => times[place]);
    const from = Math.min(...seen), to = Math.max(...seen);
    const margin = Math.max((to - from) * 0.3, 50e6);
    show(from - margin, to + margin);
  }

  function selectFinding(number) {
    if (findings.length === 0) return;
    selected = (number + findings.length) % findings.length;
    marked = -1;
    const places = findings[selected].events.map(placeOf).filter((place) => place >= 0);
    if (places.length > 0) around(places);
    document.querySelectorAll('.finding.here').forEach((article) => article.classList.remove('here'));
    document.getElementById('finding-' + selected)?.classList.add('here');
    detail(places);
    redraw();
  }

  function selectEvent(index) {
    const place = placeOf(index);
    if (place < 0) return;
    const owner = findings.findIndex((finding) => finding.events.includes(index));
    if (owner >= 0) selectFinding(owner); else selected = -1;
    marked = place;
    if (owner < 0) around(operationOf[place] < 0 ? [place] : placesOf(operationOf[place]));
    detail(operationOf[place] < 0 ? [place] : placesOf(operationOf[place]));
    canvas.closest('section').scrollIntoView({ block: 'nearest' });
    redraw();
  }

  const placesOf = (number) => [operations.invoke[number], operations.complete[number]].filter((place) => place >= 0);

  function detail(places) {
    const box = document.getElementById('detail');
    box.hidden = places.length === 0;
    box.textContent = places.map(wholeEvent).join('\n');
  }

  // What is under the pointer: {title, places}, or null.
  function hit(px, py) {
    if (px < GUTTER) return null;
    const time = timeAt(px), slack = (view.to - view.from) / (width - GUTTER) * 3;
    if (py >= 18 && py < HEAD) {
      const fault = faults.find((each) => time >= each.start - slack && time <= (each.end ?? END) + slack);
      return fault ? { title: fault.label, places: fault.events.map(placeOf).filter((place) => place >= 0) } : null;
    }
    const lane = lanes[Math.floor((py - HEAD) / rowHeight)];
    if (py < HEAD || !lane) return null;
    const note = lane.notes.find((place) => Math.abs(times[place] - time) <= slack);
    if (note !== undefined) return { title: pooled('f', note), places: [note] };
    for (let i = Math.min(firstVisible(lane.operations, operationStart, time + slack) + 1, lane.operations.length - 1); i >= 0; i--) {
      const number = lane.operations[i];
      if (operationStart(number) > time + slack) continue;
      if (operationEnd(number) < time - slack) return null;
      const took = (operationEnd(number) - operationStart(number)) / 1e6;
      const place = operations.invoke[number];
      return {
        title: `${pooled('f', place)} ${pooled('key', place) ?? ''} · ${['ok', 'fail', 'unknown'][outcome(number)]} · ` +
          `${(times[place] / 1e9).toFixed(4)} s · took ${took.toFixed(took < 10 ? 2 : 0)} ms`,
        places: placesOf(number),
      };
    }
    return null;
  }

  const tip = document.querySelector('.tip');
  function showTip(px, py) {
    const found = hit(px, py);
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(Object.assign(document.createElement('b'), { textContent: found.title }),
      Object.assign(document.createElement('pre'), { textContent: found.places.map(wholeEvent).join('\n') }));
    tip.style.left = Math.max(0, Math.min(px + 14, width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = py + 16 + 'px';
  }

  let drag = null;
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / width);
    else zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), timeAt(event.offsetX));
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    drag = { x: event.offsetX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return showTip(event.offsetX, event.offsetY);
    const by = (drag.x - event.offsetX) / (width - GUTTER) * (drag.to - drag.from);
    drag.moved = drag.moved || Math.abs(drag.x - event.offsetX) > 3;
    if (drag.moved) { tip.hidden = true; show(drag.from + by, drag.to + by); }
  });
  canvas.addEventListener('pointerup', (event) => {
    const found = drag && !drag.moved ? hit(event.offsetX, event.offsetY) : null;
    drag = null;
    if (found) { marked = found.places[0]; detail(found.places); redraw(); }
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('dblclick', whole);

  const actions = {
    in: () => zoom(0.5), out: () => zoom(2), all: whole,
    next: () => selectFinding(selected + 1), previous: () => selectFinding(selected < 0 ? -1 : selected - 1),
  };
  const keys = { '+': 'in', '=': 'in', '-': 'out', 0: 'all', n: 'next', p: 'previous' };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.activeElement === canvas && event.key === 'ArrowLeft') pan(-0.2);
    else if (document.activeElement === canvas && event.key === 'ArrowRight') pan(0.2);
    else if (keys[event.key]) actions[keys[event.key]]();
    else return;
    event.preventDefault();
  });
  const tools = document.querySelector('.tools');
  tools.hidden = false;
  tools.addEventListener('click', (event) => actions[event.target.dataset.do]?.());

  function followHash() {
    const match = /(?:^#|&)e=(\d+)/.exec(location.hash);
    if (match) selectEvent(Number(match[1]));
  }
  window.addEventListener('hashchange', followHash);
  document.addEventListener('click', (event) => {  // the same link again must zoom again
    if (event.target.closest?.('a[href="' + location.hash + '"]')) followHash();
  });
  window.addEventListener('resize', resize);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });

  readColours();
  whole();
  resize();
  followHash();
  finishSelfTest({ press: (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key })), selectEvent, hit, x, top });

  // #selftest: the page tries its own controls and leaves what it saw in an attribute, for a test without a driver.
  function finishSelfTest(controls) {
    if (location.hash !== '#selftest') return;
    const seen = { operations: summary.operations, faults: summary.faults, findings: summary.findings, whole: visible() };
    if (controls.press) {
      controls.press('+');
      seen.zoomed = visible();
      controls.press('0');
      controls.press('n');
      seen.finding = visible();
      const place = operations.invoke[0];
      if (place !== undefined) {
        whole();
        controls.selectEvent(indexOf(place));
        seen.event = { index: indexOf(place), time: times[place], ...visible() };
        const end = operationEnd(0);
        const found = controls.hit(controls.x((times[place] + end) / 2), controls.top(rowOf.get(events.process[place])) + 5);
        seen.hit = found ? found.places.map(wholeEvent) : [];
      }
    }
    seen.problems = problems;
    document.body.dataset.selftest = JSON.stringify(seen);
  }
})();
