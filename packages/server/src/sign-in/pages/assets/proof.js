/*
 * Shows the service which device this browser runs on: opens the ports that were leased to this sign-in, one after
 * another, keeps the connections up while the device is asked, and shows the page anew when that is decided.
 */
const OPEN_MS = 6_000
const TRIES_MAX = 6
/** So that a page which cannot get on does not ask again and again. */
const PAUSE_MS = 4_000

const element = document.querySelector('[data-proof]')
const held = new AbortController()

async function send(path) {
  const answer = await fetch(path, { method: 'POST', headers: { accept: 'application/json' } })
  if (answer.ok) return answer.json()
  throw Object.assign(new Error(answer.statusText), {
    retryMs:
      answer.status === 429 ? Number(answer.headers.get('retry-after') ?? 3) * 1_000 : undefined,
  })
}

/** Resolves when the service has answered on a port; the answer goes on until the proof is over. */
async function openPort(port, path) {
  const late = AbortSignal.any([held.signal, AbortSignal.timeout(OPEN_MS)])
  const opened = fetch(`${location.protocol}//${location.hostname}:${port}${path}`, {
    credentials: 'include',
    cache: 'no-store',
    signal: held.signal,
  })
  const over = new Promise((_resolve, reject) => {
    late.addEventListener('abort', () => reject(late.reason))
  })
  return Promise.race([opened, over])
}

async function start(address) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send(address)
    } catch (error) {
      if (error.retryMs === undefined || tries >= TRIES_MAX) throw error
      await new Promise((resolve) => setTimeout(resolve, error.retryMs))
    }
  }
}

async function prove(address) {
  const { ports, path } = await start(address)
  if (ports.length === 0) return
  try {
    for (const port of ports) await openPort(port, path)
  } catch {
    // Not every port opened: the service knows which, and what the person may do instead.
  }
  await send(`${address}/result`)
}

if (element !== null) {
  try {
    await prove(element.dataset.proof)
  } catch {
    // The sign-in has moved on, or the network is away: the page shows how things stand.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  held.abort()
  location.reload()
}
