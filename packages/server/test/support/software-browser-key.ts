/*
 * The keys of a browser in software: makes them and shows them as the script of the pages does. It can be copied, as a
 * profile is.
 */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { BrowserKeyJwk } from '../../src/schema/tables/sign-in-tables.ts'
import type { KeySignature } from '../../src/sign-in/browser-keys/key-statement.ts'
import type { ShownKey } from '../../src/sign-in/browser-keys/show-browser-key.ts'

interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: BrowserKeyJwk
}

export class SoftwareBrowserKey {
  id: string | undefined
  #pairs: readonly Pair[]

  constructor(id?: string, pairs: readonly Pair[] = [newPair()]) {
    this.id = id
    this.#pairs = pairs
  }

  /** The same profile on another machine. */
  copy(): SoftwareBrowserKey {
    return new SoftwareBrowserKey(this.id, this.#pairs)
  }

  /** What is sent to bind it. */
  offer(challenge: string): KeySignature {
    const [pair] = this.#pairs
    if (pair === undefined) throw new Error('There is no key.')
    return signBy(pair, challenge, undefined, pair.publicKey)
  }

  /** What is sent to show it; what takes its place is remembered until `hear` is called. */
  show(challenge: string): ShownKey {
    const shown = this.#pairs
    const next = newPair()
    this.#pairs = [...shown, next]
    const id = this.id ?? ''
    const signatures = shown.map((pair) => signBy(pair, challenge, id, next.publicKey))
    return { id, signatures, next: next.publicKey }
  }

  /** The service has answered that the key is kept. */
  hear(): void {
    this.#pairs = this.#pairs.slice(-1)
  }
}

function newPair(): Pair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return { privateKey, publicKey: { kty: 'EC', crv: 'P-256', x, y } }
}

function signBy(
  { privateKey, publicKey }: Pair,
  challenge: string,
  id: string | undefined,
  next: BrowserKeyJwk,
): KeySignature {
  const text = ['heliograph browser key', challenge, id ?? 'new', next.x, next.y].join('\n')
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return { publicKey, signature: sign('sha256', Buffer.from(text), key).toString('base64url') }
}
