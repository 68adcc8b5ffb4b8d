import { invalidBody, type ErrorDetail } from '../../platform/app-error.ts'
import { findHeaderProblem } from '../../platform/net/request-headers.ts'
import type { SealContext } from '../../platform/secrets/sealed-box.ts'
import type { SigningForm } from './webhook-secret.ts'

/** Headers by name, as a receiver wants them. */
export type CustomHeaders = Readonly<Record<string, string>>

const COUNT_MAX = 20
const NAME_LENGTH_MAX = 128
const VALUE_LENGTH_MAX = 4_096
/** Of all names and values: receivers refuse larger heads, and so do proxies. */
const TOTAL_LENGTH_MAX = 8_192

/** Set by the service, or with a meaning for connections and intermediaries. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'cookie',
  'date',
  'forwarded',
  'host',
  'origin',
  'referer',
  'set-cookie',
  'user-agent',
  'via',
  'x-kolide-webhook-identifier',
  'x-service-webhook-identifier',
])

const RESERVED_PREFIXES: readonly string[] = [
  'access-control-',
  'content-',
  'proxy-',
  'sec-',
  'webhook-',
  'x-forwarded-',
]

const CONTROL_CHARACTER = /\p{Cc}/u

/** The place of the sealed values. */
export function webhookHeadersContext(identifier: string): SealContext {
  return { table: 'webhook', column: 'headers_sealed', id: identifier }
}

/**
 * Checks headers of the receiver's own.
 *
 * @throws AppError `invalid_body` naming each header that cannot be sent
 */
export function assertWebhookHeaders(headers: CustomHeaders, form: SigningForm): void {
  const details = listHeaderRefusals(headers, form)
  if (details.length > 0) throw invalidBody(details)
}

/** What stands in the way of sending these headers. Values are never repeated. */
function listHeaderRefusals(headers: CustomHeaders, form: SigningForm): ErrorDetail[] {
  const entries = Object.entries(headers)
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > COUNT_MAX) return aboutAll(`There can be ${COUNT_MAX} headers at most.`)
  if (total > TOTAL_LENGTH_MAX) {
    return aboutAll(
      `All names and values together can have ${TOTAL_LENGTH_MAX} characters at most.`,
    )
  }
  const names = entries.map(([name]) => name.toLowerCase())
  if (new Set(names).size < names.length) {
    return aboutAll('The same header is given twice: names differ in case only.')
  }
  return entries.flatMap(([name, value]) => {
    const message = findRefusal(name, value, form)
    return message === undefined ? [] : [{ path: `headers.${name}`, message }]
  })
}

function aboutAll(message: string): ErrorDetail[] {
  return [{ path: 'headers', message }]
}

function findRefusal(name: string, value: string, form: SigningForm): string | undefined {
  const lower = name.toLowerCase()
  if (RESERVED_NAMES.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'This header is set by the service and cannot be given.'
  }
  if (lower === 'authorization' && form === 'hex') {
    return 'The Authorization header carries the signature of this webhook and cannot be given.'
  }
  if (name.length > NAME_LENGTH_MAX) {
    return `The name can have ${NAME_LENGTH_MAX} characters at most.`
  }
  if (value.length > VALUE_LENGTH_MAX) {
    return `The value can have ${VALUE_LENGTH_MAX} characters at most.`
  }
  if (CONTROL_CHARACTER.test(value)) return 'The value must not contain control characters.'
  const problem = findHeaderProblem({ [name]: value })
  return problem === undefined ? undefined : `${problem}.`
}
