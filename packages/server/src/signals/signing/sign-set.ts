import { sign, type KeyObject } from 'node:crypto'

/** The `typ` of a SET. RFC 8417 section 2.3, SSF 1.0 section 4.1.1. */
const SET_TYP = 'secevent+jwt'

/** The first part of every token that a key signs, with its full stop. */
export function encodeSetHeader(kid: string): string {
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
export function signSet(encodedHeader: string, payload: string, privateKey: KeyObject): string {
  const signed = encodedHeader + Buffer.from(payload).toString('base64url')
  const signature = sign('sha256', Buffer.from(signed, 'latin1'), privateKey)
  return `${signed}.${signature.toString('base64url')}`
}
