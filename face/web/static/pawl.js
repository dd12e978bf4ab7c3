// Keeps a page up to date and makes it quick by the keyboard. Every page works without it: nothing is known here that the
// page does not say, and nothing is done that a link or a form of the page does not do.

const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy('pawl', { createHTML: (s) => s })
  : { createHTML: (s) => s };
const body = document.body;

// ---- the door: a code behind the # is sent as the form would send it, and leaves no trace in the address

const door = /** @type {HTMLFormElement|null} */ (document.getElementById('enter'));
if (door && location.hash.length > 1) {
  const code = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
  /** @type {HTMLInputElement} */ (door.elements.namedItem('code')).value = code;
  door.submit();
}
const go = /** @type {HTMLAnchorElement|null} */ (document.getElementById('go'));
if (go) location.replace(go.href);

// ---- morphing: the page that is there becomes the one that was fetched, and keeps focus, what was typed and what was opened

/** @param {Node} n */
const keyOf = (n) => (n instanceof Element && n.id) || '';

/** @param {Node} a @param {Node} b */
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/** @param {Element} from @param {Element} to */
function attributes(from, to) {
  for (const { name, value } of to.attributes) {
    if (name === 'value' && from instanceof HTMLInputElement && touched(from)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    const own = name === 'open' && from.nodeName === 'DETAILS';
    if (!own && !to.hasAttribute(name)) from.removeAttribute(name);
  }
}

/** @param {HTMLInputElement|HTMLTextAreaElement} field */
const touched = (field) => field.type !== 'hidden' && field.value !== field.defaultValue;

/** @param {Element} from @param {Element} to */
function morph(from, to) {
  if (from.hasAttribute('data-keep')) return;
  const opened = from.nodeName === 'DETAILS' && from.hasAttribute('open');
  if (from.nodeName === 'DETAILS') to.toggleAttribute('open', opened);
  attributes(from, to);
  if (from instanceof HTMLTextAreaElement) return;
  /** @type {Map<string, Node>} */
  const named = new Map();
  for (const child of from.childNodes) if (keyOf(child)) named.set(keyOf(child), child);
  let at = from.firstChild;
  for (const want of [...to.childNodes]) {
    const key = keyOf(want);
    let have = key ? named.get(key) : at;
    if (!key) while (have && keyOf(have) && !alike(have, want)) have = have.nextSibling; // keyed ones find their own place
    if (have && alike(have, want)) {
      if (have !== at) from.insertBefore(have, at);
      else at = at.nextSibling;
      if (have instanceof Element) morph(have, /** @type {Element} */ (want));
      else if (have.nodeValue !== want.nodeValue) have.nodeValue = want.nodeValue;
    } else {
      from.insertBefore(want, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    from.removeChild(at);
    at = next;
  }
}

// ---- live: rows that changed are told one by one; what they do not say is fetched as the same page; what cannot be
// fetched looks old

let fetching = false;
let wanted = Number(body.dataset.at || 0); // how much of the log was heard of
let heard = Date.now();
let due = 0; // the timer of the next fetch, and when that is
let dueAt = Infinity;
/** @type {EventSource|null} */
let stream = null;
let visits = 0; // how many pages took the place of another
/** @type {{at: number, rows: string}[]} */
let meanwhile = []; // what was told while the page was being fetched

const shown = () => Number(body.dataset.at || 0);

/** @param {string} html */
const parse = (html) => new DOMParser().parseFromString(/** @type {any} */ (policy.createHTML(html)), 'text/html');

/** @param {boolean} old */
function stale(old) {
  body.classList.toggle('stale', old);
  body.classList.toggle('live', !old);
  const note = /** @type {HTMLElement|null} */ (document.querySelector('#link .old'));
  const text = old && note ? (note.dataset.text || '').replace('{time}', body.dataset.read || '') : '';
  if (note && note.textContent !== text) note.textContent = text;
}

/** Has the page fetched within so many milliseconds. @param {number} ms */
function soon(ms) {
  const at = Date.now() + ms;
  if (at >= dueAt) return;
  clearTimeout(due);
  dueAt = at;
  due = setTimeout(() => { dueAt = Infinity; refresh(); }, ms);
}

/** Whether a page belongs to the version of pawl that this one is of. @param {Document} next */
const same = (next) => ['link[rel=stylesheet]', 'script[src]'].every((is) =>
  next.querySelector(is)?.outerHTML === document.querySelector(is)?.outerHTML);

/** Whether it is a page of the dashboard: a door is none, nor is what somebody between answers. @param {Document} next */
const page = (next) => next.body.dataset.at !== undefined;

async function refresh() {
  if (fetching || document.hidden) return;
  fetching = true;
  meanwhile = [];
  const [begun, visit] = [Date.now(), visits];
  try {
    const url = new URL(location.href);
    url.searchParams.delete('verify');
    const answer = await fetch(url, { headers: { 'Pawl-Live': '1' }, redirect: 'error', cache: 'no-store' });
    if (answer.status === 401) return location.assign('/enter');
    if (!answer.ok) throw new Error(String(answer.status));
    const next = parse(await answer.text());
    if (visit !== visits) return; // it is the page that was left meanwhile
    if (!page(next)) throw new Error('no page');
    if (!same(next)) return location.reload();
    body.dataset.at = next.body.dataset.at;
    body.dataset.read = next.body.dataset.read;
    document.title = next.title;
    const [from, to] = [document.getElementById('main'), next.getElementById('main')];
    if (from && to) morph(from, to);
    for (const told of meanwhile) if (told.at > shown()) put(told.rows);
    mark();
    stale(false);
    if (wanted > shown()) soon(meanwhile.length ? 1000 : Math.max(10, Date.now() - begun));
  } catch {
    stale(true);
    soon(2000);
  } finally {
    fetching = false;
  }
}

/** Puts rows where they are, or where they belong. What is missing then is fetched. @param {string} html */
function put(html) {
  const told = parse('<template>' + html + '</template>').querySelector('template');
  for (const row of told ? /** @type {HTMLElement[]} */ ([...told.content.children]) : []) {
    let have = document.getElementById(row.id);
    const from = have && have.parentElement;
    const list = row.dataset.in ? document.getElementById(row.dataset.in) : from;
    if (!list) {
      if (row.dataset.in) soon(0);
      continue;
    }
    const moved = !have || from !== list || have.dataset.key !== row.dataset.key;
    if (have) morph(have, row);
    else have = row;
    if (!moved || !row.dataset.key) continue;
    if (from && from !== list && from.children.length >= Number(from.dataset.most)) soon(0); // another comes into its place
    const [key, newest] = [row.dataset.key, list.dataset.newest !== undefined];
    const others = /** @type {HTMLElement[]} */ ([...list.children]);
    list.insertBefore(have, others.find((o) => o !== have && (newest ? (o.dataset.key || '') < key : (o.dataset.key || '') > key)) || null);
    while (list.children.length > Number(list.dataset.most)) list.lastElementChild?.remove();
  }
}

function listen() {
  if (stream || document.hidden) return;
  const now = new EventSource('/live?' + new URLSearchParams({ of: location.pathname + location.search, from: String(wanted) }));
  stream = now;
  let lost = false;
  /** @param {string} name @param {(e: MessageEvent) => void} f */
  const on = (name, f) => now.addEventListener(name, (e) => {
    heard = Date.now();
    if (e.lastEventId) wanted = Math.max(wanted, Number(e.lastEventId) + 1);
    f(e);
  });
  on('rows', (e) => {
    if (e.data && fetching) meanwhile.push({ at: wanted, rows: e.data });
    if (e.data) put(e.data);
    if (wanted > shown()) soon(1000);
  });
  on('at', () => { if (wanted > shown()) soon(0); });
  on('beat', () => {
    if (lost) soon(0); // what is there now may be another version of pawl, or of the log
    else if (!fetching && wanted <= shown()) stale(false);
    lost = false;
  });
  now.addEventListener('error', () => {
    lost = true;
    stale(true);
    // Nobody comes back to a stream that was refused; who has to enter anew finds out by asking for the page.
    if (now.readyState !== EventSource.CLOSED || stream !== now) return;
    stream = null;
    setTimeout(async () => { await refresh(); wanted = shown(); listen(); }, 2000);
  });
}

function hush() {
  if (stream) stream.close();
  stream = null;
}

if (body.dataset.at !== undefined) {
  // A browser opens few connections to one server: a tab that nobody looks at gives its own back.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hush();
    else { soon(0); listen(); }
  });
  window.addEventListener('pagehide', hush);
  window.addEventListener('pageshow', listen);
  setInterval(() => {
    if (Date.now() - heard > 40_000) { stale(true); hush(); listen(); }
    soon(0); // how long ago things were
  }, 30_000);
  listen();
}

// ---- going on: what a link or a search leads to takes the place of the page, whose script and stream need not begin anew.
// The address, the history and going back are the browser's; one that cannot do so loads the page, as without script.

/** @param {string} url @param {AbortSignal} signal */
async function visit(url, signal) {
  hush();
  try {
    const answer = await fetch(url, { cache: 'no-store', signal });
    const next = parse(await answer.text());
    if (answer.redirected || !page(next) || !same(next)) return location.reload();
    visits++;
    document.getElementById('main')?.remove(); // nothing of it is to be found in the next one
    morph(body, next.body);
    document.title = next.title;
    document.documentElement.lang = next.documentElement.lang;
    place = '';
    wanted = shown();
    stale(false);
    document.getElementById('main')?.focus({ preventScroll: true });
    listen();
  } catch {
    if (!signal.aborted) return location.reload();
    listen();
    soon(500); // what the address says by then
  }
}

/** @type {any} */ (window).navigation?.addEventListener('navigate', (/** @type {any} */ e) => {
  if (!e.canIntercept || e.hashChange || e.formData || e.downloadRequest !== null || e.navigationType === 'reload') return;
  if (body.dataset.at !== undefined) e.intercept({ focusReset: 'manual', handler: () => visit(e.destination.url, e.signal) });
});

// ---- copying a command

document.addEventListener('click', (e) => {
  const code = /** @type {Element} */ (e.target).closest('[data-copy]');
  if (!code || !navigator.clipboard) return;
  navigator.clipboard.writeText(code.getAttribute('data-copy') || '').then(() => {
    code.classList.add('copied');
    setTimeout(() => code.classList.remove('copied'), 900);
  }, () => {});
});

// ---- the keyboard

let place = '';
let going = false;

const rows = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll('main [data-row]')]);

/** @param {HTMLElement} row */
const nameOf = (row) => row.id || (row.closest('[id]') || row).id;

function mark() {
  for (const row of rows()) row.classList.toggle('at', place !== '' && nameOf(row) === place);
}

/** @param {number} by */
function step(by) {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.classList.contains('at') || row.contains(document.activeElement));
  const row = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1)];
  place = nameOf(row);
  mark();
  row.scrollIntoView({ block: 'nearest' });
  const link = /** @type {HTMLElement|null} */ (row.matches('a') ? row : row.querySelector('a, summary, button'));
  if (link) link.focus({ preventScroll: true });
}

/** @param {string} id */
const dialog = (id) => /** @type {HTMLDialogElement|null} */ (document.getElementById(id));

document.addEventListener('keydown', (e) => {
  const target = /** @type {HTMLElement} */ (e.target);
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
    e.preventDefault();
    return palette();
  }
  if (e.ctrlKey || e.metaKey || e.altKey || target.matches('input, textarea, select') || document.querySelector('dialog[open]')) return;
  if (going) {
    going = false;
    const to = /** @type {HTMLElement|null} */ (document.querySelector(`nav [data-key="${CSS.escape(e.key)}"]`));
    if (to) { e.preventDefault(); to.click(); }
    return;
  }
  switch (e.key) {
    case 'j': return step(1);
    case 'k': return step(-1);
    case 'g': going = true; setTimeout(() => { going = false; }, 1500); return;
    case '?': return dialog('help')?.showModal();
    case '/': {
      const field = /** @type {HTMLElement|null} */ (document.querySelector('input[type=search]'));
      if (field) { e.preventDefault(); field.focus(); }
    }
  }
});

// ---- the palette: every link and every form of the page, and the menu

function palette() {
  const box = dialog('palette');
  const field = box && box.querySelector('input');
  const list = box && box.querySelector('ul');
  if (!box || !field || !list || box.open) return;
  /** @type {{text: string, note: string, go: () => void}[]} */
  const all = [];
  for (const a of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('header nav a, main a'))) {
    const text = (a.textContent || '').trim();
    if (text) all.push({ text, note: a.dataset.key ? 'g ' + a.dataset.key : '', go: () => a.click() });
  }
  for (const b of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('main button, footer button'))) {
    // What a person has to see first is led to, and not done from here.
    all.push({ text: (b.textContent || '').trim(), note: b.dataset.command || '', go: () => { b.scrollIntoView({ block: 'center' }); b.focus(); } });
  }
  let chosen = 0;
  /** @type {typeof all} */
  let fits = [];
  const draw = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    fits = all.filter((c) => words.every((w) => (c.text + ' ' + c.note).toLowerCase().includes(w))).slice(0, 50);
    chosen = Math.min(chosen, Math.max(fits.length - 1, 0));
    list.replaceChildren(...fits.map((c, n) => {
      const li = document.createElement('li');
      li.setAttribute('aria-selected', String(n === chosen));
      const [left, right] = [document.createElement('span'), document.createElement('code')];
      left.textContent = c.text;
      right.textContent = c.note;
      li.append(left, right);
      li.addEventListener('click', () => run(n));
      return li;
    }));
  };
  /** @param {number} n */
  const run = (n) => {
    box.close();
    fits[n]?.go();
  };
  field.oninput = () => { chosen = 0; draw(); };
  field.onkeydown = (e) => {
    if (e.key === 'Enter') { e.preventDefault(); run(chosen); }
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      chosen = Math.min(Math.max(chosen + (e.key === 'ArrowDown' ? 1 : -1), 0), fits.length - 1);
      draw();
      list.children[chosen]?.scrollIntoView({ block: 'nearest' });
    }
  };
  field.value = '';
  draw();
  box.showModal();
}
