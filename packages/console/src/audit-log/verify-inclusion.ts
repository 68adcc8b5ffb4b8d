/*
 * Proves in the browser that an entry is in the tree of a checkpoint: RFC 6962 section 2.1.1. The service gives the
 * hashes; that they lead to the signed root is computed here.
 */
import type { AuditInclusionProof } from '../api/generated/types.gen.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Whether hashes can be computed: browsers do so only on pages that came over HTTPS, or from this machine. */
export function canVerify(): boolean {
  return globalThis.isSecureContext
}

/** Whether the proof leads from the hash of the entry to the root hash, which is in base64. */
export async function leadsToRoot(proof: AuditInclusionProof, root: string): Promise<boolean> {
  let node = await hash(0, fromBase64(proof.hash))
  let place = proof.position - 1
  let last = proof.size - 1
  for (const sibling of proof.hashes.map(fromBase64)) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      node = await hash(1, sibling, node)
      while (place % 2 === 0 && place !== 0) {
        place = Math.floor(place / 2)
        last = Math.floor(last / 2)
      }
    } else {
      node = await hash(1, node, sibling)
    }
    place = Math.floor(place / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && toBase64(node) === root
}

async function hash(prefix: number, ...parts: readonly Bytes[]): Promise<Bytes> {
  const data = Uint8Array.from([prefix, ...parts.flatMap((part) => [...part])])
  return new Uint8Array(await crypto.subtle.digest('SHA-256', data))
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

function toBase64(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes))
}
