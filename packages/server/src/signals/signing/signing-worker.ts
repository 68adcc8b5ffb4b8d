/*
 * One thread of the signing pool: holds the private keys and signs batches. Imports nothing of the
 * workspace but its neighbours, because threads do not inherit how the main thread resolves packages.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { encodeSetHeader, signSet } from './sign-set.ts'
import type { SignCommand, SigningAnswer, SigningCommand } from './signing-message.ts'

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

parentPort?.on('message', (command: SigningCommand) => {
  switch (command.type) {
    case 'key':
      texts.set(command.kid, command.privateKeyPem)
      return
    case 'sign':
      parentPort?.postMessage(signBatch(command))
  }
})
