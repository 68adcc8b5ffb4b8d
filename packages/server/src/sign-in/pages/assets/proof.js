/*
 * Shows the service which device this browser runs on: opens the ports that were leased to this sign-in, one after
 * another, keeps the connections up while the device is asked, and shows the page anew when that is decided.
 */
const OPEN_MS = 6_000
const TRIES_MAX = 6
/** A page that cannot get on looks again later each time, and does not ask for ever. */
const PAUSE_MS = 4_000
const PAUSE_MS_MAX = 60_000
const FAILURES_MAX = 6

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

/** Outlives the page, of this tab and this sign-in alone. */
const failuresKey = `heliograph-proof ${element?.dataset.proof}`

/** How often in a row this sign-in did not get on; a browser that keeps nothing begins anew each time. */
function countFailure() {
  try {
    const count = Number(window.sessionStorage.getItem(failuresKey) ?? 0) + 1
    window.sessionStorage.setItem(failuresKey, String(count))
    return count
  } catch {
    return 1
  }
}

function forgetFailures() {
  try {
    window.sessionStorage.removeItem(failuresKey)
  } catch {
    // Nothing was kept.
  }
}

/** Whether the page is to look again. The sign-in has moved on, or the network is away. */
async function pause() {
  const failures = countFailure()
  if (failures > FAILURES_MAX) return false
  const ms = Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX)
  await new Promise((resolve) => setTimeout(resolve, ms))
  return true
}

if (element !== null) {
  let isToLook = true
  try {
    await prove(element.dataset.proof)
    forgetFailures()
  } catch {
    isToLook = await pause()
  }
  held.abort()
  if (isToLook) location.reload()
}
