/* Whom an event is about, in one line. RFC 9493. */

interface Subject {
  readonly format?: unknown
  readonly [member: string]: unknown
}

const isSubject = (value: unknown): value is Subject => typeof value === 'object' && value !== null

/** What names a subject: its address, its id, or its parts. */
export function describeSubject(value: unknown): string {
  if (!isSubject(value)) return '–'
  const { format } = value
  if (format === 'email') return textOf(value['email'])
  if (format === 'iss_sub') return textOf(value['sub'])
  if (format === 'opaque') return textOf(value['id'])
  const parts = Object.entries(value).flatMap(([name, part]) =>
    isSubject(part) ? [`${name} ${describeSubject(part)}`] : [],
  )
  return parts.length > 0 ? parts.join(' · ') : JSON.stringify(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '–'
}
