/*
 * What a page does where scripts run: it puts times in the zone of its reader and keeps them true, offers to copy,
 * follows what happens, and goes on by itself. Everything works without it.
 */
const page = document.documentElement
const language = page.lang
const words = page.dataset

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

function wordsOf(time) {
  const at = new Date(time.dateTime)
  const form = time.dataset.form
  if (form === 'distance') {
    const distance = at.getTime() - Date.now()
    const [unit, ms] = UNITS.find(([, each]) => Math.abs(distance) >= each) ?? []
    if (unit === undefined) {
      return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'second')
    }
    return new Intl.RelativeTimeFormat(language).format(Math.trunc(distance / ms), unit)
  }
  const options =
    form === 'day'
      ? { day: 'numeric', month: 'long', year: 'numeric' }
      : { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' }
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, options).format(at)
}

function showTimes(root) {
  for (const time of root.querySelectorAll('time[data-form]')) {
    const text = wordsOf(time)
    // What has not changed is left alone: a reader of the screen would be told again.
    if (time.textContent !== text) time.textContent = text
  }
}

function offerCopies(root) {
  if (navigator.clipboard === undefined) return
  for (const button of root.querySelectorAll('button[data-copy][hidden]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy)
      const label = button.textContent
      button.textContent = words.copied
      setTimeout(() => (button.textContent = label), 2_000)
    })
  }
}

/** A page that has changed is asked for again; of it only what differs takes the place of what stands. */
const policy = window.trustedTypes?.createPolicy('heliograph-pages', { createHTML: (text) => text })
const parser = new DOMParser()
const shown = new Map()

function partsOf(root) {
  return [...root.querySelectorAll('[data-part]')].map((part) => [part.dataset.part, part])
}

function rememberParts() {
  for (const [name, part] of partsOf(document)) shown.set(name, part.outerHTML)
}

/** So long a page waits after a failure, as while the service has no database; each time twice as long. */
const FAILED_MS = 5_000
const FAILED_MS_MAX = 300_000

let isRefreshing = false
let isStale = false
let failedMs = FAILED_MS
let lookingAgain

async function refresh() {
  isStale = true
  if (isRefreshing) return
  isRefreshing = true
  try {
    while (isStale) {
      isStale = false
      await look()
    }
  } finally {
    isRefreshing = false
  }
}

async function look() {
  clearTimeout(lookingAgain)
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(
    () => undefined,
  )
  if (answer?.redirected) return location.replace(answer.url)
  const next = answer === undefined || answer.status >= 500 ? undefined : await read(answer)
  // What stands is better than what says that nothing can be said.
  if (!next?.querySelector('main')) {
    lookingAgain = setTimeout(() => {
      failedMs = Math.min(2 * failedMs, FAILED_MS_MAX)
      void refresh()
    }, failedMs)
    return
  }
  failedMs = FAILED_MS
  show(next)
}

async function read(answer) {
  const text = await answer.text().catch(() => '')
  return parser.parseFromString(policy === undefined ? text : policy.createHTML(text), 'text/html')
}

function show(next) {
  const parts = partsOf(next)
  const names = partsOf(document).map(([name]) => name)
  const isSame = parts.length === names.length && parts.every(([name], at) => name === names[at])
  const focused = document.activeElement?.id
  if (!isSame) {
    document
      .querySelector('main')
      .replaceWith(document.importNode(next.querySelector('main'), true))
    shown.clear()
  } else {
    for (const [name, part] of parts) showPart(name, part)
  }
  if (document.title !== next.title) document.title = next.title
  // Nothing more will come of what is over.
  if (next.documentElement.dataset.live === undefined) {
    source?.close()
    delete words.live
  }
  for (const [name, part] of parts) shown.set(name, part.outerHTML)
  enliven(document.querySelector('main'))
  if (focused) document.getElementById(focused)?.focus()
}

function showPart(name, part) {
  if (shown.get(name) === part.outerHTML) return
  const standing = document.querySelector(`[data-part="${CSS.escape(name)}"]`)
  // What somebody has written stays until it is sent.
  if (
    [...standing.querySelectorAll('textarea, input')].some(
      (field) => field.value !== field.defaultValue,
    )
  )
    return
  const open = [...standing.querySelectorAll('details[open]')].map(({ id }) => id)
  standing.replaceWith(document.importNode(part, true))
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
}

let source
let refusedMs = FAILED_MS

function follow() {
  const { live } = words
  if (live === undefined) return
  source = new EventSource(live)
  // The first message says how things stand, which may be later than the page.
  source.addEventListener('message', () => {
    refusedMs = FAILED_MS
    void refresh()
  })
  // A browser comes again by itself unless it was answered with an error.
  source.addEventListener('error', ({ target }) => {
    if (target.readyState !== EventSource.CLOSED) return
    setTimeout(follow, refusedMs)
    refusedMs = Math.min(2 * refusedMs, FAILED_MS_MAX)
  })
}

/** So often a page looks whether what it asked for has come. */
const ASKING_MS = 700
const CONFLICT = 409

const sentInPlace = new WeakSet()

/** A form that only asks for something is sent without leaving the page. */
function sendInPlace(root) {
  for (const form of root.querySelectorAll('form[data-in-place]')) {
    if (sentInPlace.has(form)) continue
    sentInPlace.add(form)
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      const button = event.submitter
      if (button) button.disabled = true
      const looking = setInterval(() => void refresh(), ASKING_MS)
      const answer = await fetch(form.action, {
        method: 'POST',
        body: new URLSearchParams(new FormData(form)),
      }).catch(() => undefined)
      clearInterval(looking)
      if (button) button.disabled = false
      // What has moved on meanwhile is shown as it is; what cannot be done in place, as a page of its own.
      if (answer?.ok || answer?.status === CONFLICT) void refresh()
      else form.submit()
    })
  }
}

/** A form that takes an answer elsewhere goes there by itself, once. */
function sendOn(root) {
  const form = root.querySelector('form[data-submit]')
  if (form === null || sentInPlace.has(form)) return
  sentInPlace.add(form)
  form.submit()
}

let going

function goOn(root) {
  const notice = root.querySelector('[data-go-on]')
  if (notice === null || going !== undefined) return
  const { goOn: to, seconds } = notice.dataset
  going = setTimeout(() => location.assign(to), Number(seconds) * 1_000)
  const cancel = notice.querySelector('[data-cancel]')
  cancel.hidden = false
  cancel.addEventListener('click', () => {
    clearTimeout(going)
    for (const sign of notice.querySelectorAll('[data-going]')) sign.hidden = true
    cancel.hidden = true
  })
}

function enliven(root) {
  showTimes(root)
  offerCopies(root)
  sendInPlace(root)
  goOn(root)
  sendOn(root)
}

rememberParts()
enliven(document)
follow()
setInterval(() => showTimes(document), 60_000)
