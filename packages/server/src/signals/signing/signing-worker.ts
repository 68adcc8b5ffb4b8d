/*
 * One thread of the signing pool: holds the private keys and signs batches. Imports nothing of the
 * workspace, because threads do not inherit how the main thread resolves packages.
 */
import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** Gives a thread a private key as PKCS #8 PEM. */
interface KeyCommand {
  readonly type: 'key'
  readonly kid: string
  readonly privateKeyPem: string
}

/** Asks a thread for the tokens of payloads, in order. */
interface SignCommand {
  readonly type: 'sign'
  readonly batch: number
  readonly kid: string
  readonly payloads: readonly string[]
}

/** What a thread of the signing pool is told. */
export type SigningCommand = KeyCommand | SignCommand

/** What a thread of the signing pool answers. */
export type SigningAnswer =
  | { readonly type: 'signed'; readonly batch: number; readonly tokens: readonly string[] }
  | { readonly type: 'failed'; readonly batch: number; readonly message: string }

interface LoadedKey {
  readonly header: string
  readonly privateKey: KeyObject
}

const texts = new Map<string, string>()
const keys = new Map<string, LoadedKey>()

/** Parsed once: parsing per signature costs four times the signature itself. */
function loadKey(kid: string): LoadedKey {
  const known = keys.get(kid)
  if (known !== undefined) return known
  const privateKeyPem = texts.get(kid)
  if (privateKeyPem === undefined) throw new Error(`no key ${kid}`)
  const key = { header: encodeSetHeader(kid), privateKey: createPrivateKey(privateKeyPem) }
  keys.set(kid, key)
  return key
}

function signBatch({ batch, kid, payloads }: SignCommand): SigningAnswer {
  try {
    const { header, privateKey } = loadKey(kid)
    const tokens = payloads.map((payload) => signSet(header, payload, privateKey))
    return { type: 'signed', batch, tokens }
  } catch (error) {
    return {
      type: 'failed',
      batch,
      message: error instanceof Error ? error.message : String(error),
    }
  }
}

/** The `typ` of a SET. RFC 8417 section 2.3, SSF 1.0 section 4.1.1. */
const SET_TYP = 'secevent+jwt'

/** The first part of every token that a key signs, with its full stop. */
function encodeSetHeader(kid: string): string {
  const header = JSON.stringify({ alg: 'RS256', kid, typ: SET_TYP })
  return `${Buffer.from(header).toString('base64url')}.`
}

/**
 * Signs one payload and answers the compact token. RFC 7515 section 3.1.
 *
 * RS256 is RSASSA-PKCS1-v1_5 (RFC 7518 section 3.3), which adds no randomness: the same key and the
 * same payload give the same bytes every time. The payload of a SET is fixed when it is queued and
 * its key at the first claim, so a token that was sent and lost in a crash before it was stored is
 * made again identically, `jti` and signature included. A token need not be stored before it is sent.
 */
function signSet(encodedHeader: string, payload: string, privateKey: KeyObject): string {
  const signed = encodedHeader + Buffer.from(payload).toString('base64url')
  const signature = sign('sha256', Buffer.from(signed, 'latin1'), privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

parentPort?.on('message', (command: SigningCommand) => {
  switch (command.type) {
    case 'key':
      texts.set(command.kid, command.privateKeyPem)
      return
    case 'sign':
      parentPort?.postMessage(signBatch(command))
  }
})
