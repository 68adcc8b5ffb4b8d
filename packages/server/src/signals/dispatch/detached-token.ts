/*
 * Tokens as they are stored: without their payload, which is the body of the delivery (RFC 7515 appendix F). Between
 * header and signature stands, in base64url, what the payload has beyond the body, as the number of a SET; mostly
 * nothing.
 */

/** A stored delivery as far as its token is concerned. */
export interface StoredToken {
  readonly body: string
  /** The whole token, as former versions stored it. */
  readonly token: string | null
  readonly detachedToken: string | null
}

/** The token without its payload; undefined when the payload is not the claims of the body, with or without more. */
export function detachToken(token: string, body: string): string | undefined {
  const [header = '', payload = '', signature = ''] = token.split('.')
  if (payload === encode(body)) return `${header}..${signature}`
  const claims = Buffer.from(payload, 'base64url').toString('utf8')
  const more = claims.slice(body.length - 1, -1)
  if (withMore(body, more) !== claims) return undefined
  return `${header}.${encode(more)}.${signature}`
}

/** The whole token of a delivery; null of one that is not signed, and once what it carried is deleted. */
export function wholeToken({ body, token, detachedToken }: StoredToken): string | null {
  if (detachedToken === null || body === '') return token
  const [header = '', more = '', signature = ''] = detachedToken.split('.')
  const claims = withMore(body, Buffer.from(more, 'base64url').toString('utf8'))
  return `${header}.${encode(claims)}.${signature}`
}

function withMore(body: string, more: string): string {
  return more === '' ? body : `${body.slice(0, -1)}${more}}`
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}
