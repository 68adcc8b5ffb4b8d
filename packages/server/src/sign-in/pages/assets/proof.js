/*
 * Shows the service which device this browser runs on: shows the key that the browser holds, so that its device is asked
 * first, opens the ports that were leased to this sign-in, one after another, keeps the connections up while the device
 * is asked, and shows the page anew when that is decided. A browser without a key makes one, which is bound to the device
 * that is proven.
 */
const OPEN_MS = 6_000
const TRIES_MAX = 6
/** A page that cannot get on looks again later each time, and does not ask for ever. */
const PAUSE_MS = 4_000
const PAUSE_MS_MAX = 60_000
const FAILURES_MAX = 6

const element = document.querySelector('[data-proof]')
const held = new AbortController()

async function send(path, body, signal) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: JSON.stringify(body),
    signal,
  })
  if (answer.ok) return answer.json()
  throw Object.assign(new Error(answer.statusText), {
    retryMs:
      answer.status === 429 ? Number(answer.headers.get('retry-after') ?? 3) * 1_000 : undefined,
  })
}

/** The keys of this browser, each for one person. Their private halves never leave it. */
const STORE = 'browser-keys'
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }
/** The proof waits no longer for a key. */
const KEY_MS = 4_000
/** So many answers of the service a browser may miss one after another. */
const PAIRS_MAX = 8

function settled(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}

async function inStore(mode, work) {
  const opening = indexedDB.open('heliograph', 1)
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(STORE))
  const database = await settled(opening)
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

const readKey = (owner) => inStore('readonly', (store) => store.get(owner))
const writeKey = (owner, key) => inStore('readwrite', (store) => store.put(key, owner))
const forgetKey = (owner) => inStore('readwrite', (store) => store.delete(owner))

async function newPair() {
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  return { privateKey: pair.privateKey, publicKey: { kty, crv, x, y } }
}

async function signBy(challenge, { privateKey, publicKey }, id, next) {
  const text = ['heliograph browser key', challenge, id ?? 'new', next.x, next.y].join('\n')
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(text)
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, bytes))
  const base64 = btoa(String.fromCharCode(...signature))
  const url = base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return { public_key: publicKey, signature: url }
}

/** Whether the browser holds a key after showing it. What takes its place is kept before it is sent. */
async function showKey({ key: address, owner, challenge }) {
  const key = await readKey(owner)
  if (key === undefined) return false
  const next = await newPair()
  const { id, pairs } = key
  if (pairs.length < PAIRS_MAX) {
    await writeKey(owner, { id, pairs: [...pairs, next] })
    const signatures = await Promise.all(
      pairs.map((pair) => signBy(challenge, pair, id, next.publicKey)),
    )
    const body = { id, signatures, next: next.publicKey }
    const { outcome } = await send(address, body, AbortSignal.timeout(KEY_MS))
    if (outcome === 'kept') {
      await writeKey(owner, { id, pairs: [next] })
      return true
    }
  }
  await forgetKey(owner)
  return false
}

/** A key that may be bound; undefined where the browser holds one, or can hold none. */
async function prepareKey() {
  const { challenge, owner } = element.dataset
  if (challenge === undefined || owner === undefined) return undefined
  try {
    const options = { signal: AbortSignal.timeout(KEY_MS) }
    // Two pages of one browser would else show the same key, which is what two browsers with one key do.
    const isHeld = await navigator.locks.request('heliograph-browser-key', options, () =>
      showKey(element.dataset),
    )
    return isHeld ? undefined : await newPair()
  } catch {
    return undefined
  }
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

async function prove({ proof: address, owner, challenge }) {
  const pair = await prepareKey()
  const { ports, path } = await start(address)
  if (ports.length === 0) return
  try {
    for (const port of ports) await openPort(port, path)
  } catch {
    // Not every port opened: the service knows which, and what the person may do instead.
  }
  const body = pair && { new_key: await signBy(challenge, pair, undefined, pair.publicKey) }
  const { browser_key: id } = await send(`${address}/result`, body)
  if (id) await writeKey(owner, { id, pairs: [pair] })
}

/**
 * Shows the certificate of the device by its form, and a key with it where the browser holds none, to be bound to that
 * device. Whatever fails is left to the form itself, which needs no script.
 */
async function showCertificate(form) {
  const { challenge, owner } = form.dataset
  const body = new URLSearchParams(new FormData(form))
  const pair = (await readKey(owner)) === undefined ? await newPair() : undefined
  if (pair !== undefined) {
    const signed = await signBy(challenge, pair, undefined, pair.publicKey)
    body.set('new_key', JSON.stringify(signed))
  }
  const headers = { accept: 'application/json' }
  const answer = await fetch(form.action, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(answer.statusText)
  const { browser_key: id } = await answer.json()
  if (id) await writeKey(owner, { id, pairs: [pair] })
}

document.addEventListener('submit', async (event) => {
  const form = event.target
  if (form.dataset.newKey === undefined || form.dataset.challenge === undefined) return
  event.preventDefault()
  const button = form.querySelector('button')
  button.disabled = true
  try {
    await showCertificate(form)
    location.reload()
  } catch {
    form.submit()
  }
})

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
    await prove(element.dataset)
    forgetFailures()
  } catch {
    isToLook = await pause()
  }
  held.abort()
  if (isToLook) location.reload()
}
