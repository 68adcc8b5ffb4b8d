/**
 * How osquery decides whether a request succeeded (osquery/remote/utility.h): from the JSON body
 * alone. The HTTP status plays no part.
 */

export type JsonObject = Record<string, unknown>

/** What a response means to the agent. */
export type ResponseVerdict =
  | { readonly outcome: 'success'; readonly body: JsonObject }
  | { readonly outcome: 'node-invalid' }
  | { readonly outcome: 'failed'; readonly reason: string }

/** Whether a parsed JSON value is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Judges a response body: an empty body succeeds; text that is not a JSON object fails;
 * `node_invalid` counts only as the boolean true; any `error` member, whatever its type, fails.
 */
export function judgeResponse(text: string): ResponseVerdict {
  if (text.length === 0) return { outcome: 'success', body: {} }
  let body: unknown
  try {
    body = JSON.parse(text, readNumber)
  } catch {
    return { outcome: 'failed', reason: 'cannot parse the response as JSON' }
  }
  if (!isJsonObject(body)) return { outcome: 'failed', reason: 'the response is not an object' }
  if (body['node_invalid'] === true) return { outcome: 'node-invalid' }
  if ('error' in body) return { outcome: 'failed', reason: `request failed: ${describe(body)}` }
  return { outcome: 'success', body }
}

/**
 * To osquery a number is an integer by how it is written: 5.0 is none. Such numbers stay what they are, but
 * for `accelerate`, the one that is asked.
 */
function readNumber(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (key !== 'accelerate' || typeof value !== 'number') return value
  return /^-?\d+$/.test(context?.source ?? String(value)) ? value : Number.NaN
}

function describe(body: JsonObject): string {
  const error = body['error']
  return typeof error === 'string' ? error : JSON.stringify(error)
}
