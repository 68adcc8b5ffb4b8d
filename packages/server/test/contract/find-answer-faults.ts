import type { Fact } from './k2-objects.ts'

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/**
 * Where a real answer is not the object that the facts describe: what is missing, null or of another
 * type or word. Members that the facts do not know are fine.
 */
export function findAnswerFaults(
  facts: Readonly<Record<string, Fact>>,
  answer: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(facts).flatMap(([name, fact]) => {
    const value = answer[name]
    const { optional, nullable } = { ...fact, ...fact.differs }
    if (value === undefined) return optional === true ? [] : [`${name} is missing`]
    if (value === null) return nullable === true ? [] : [`${name} is null`]
    return isOfFact(fact, value)
      ? []
      : [`${name} is no ${fact.words?.join('|') ?? fact.type}: ${JSON.stringify(value)}`]
  })
}

function isOfFact({ type, words }: Fact, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string' && (words === undefined || words.includes(value))
    case 'integer':
      return Number.isSafeInteger(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'timestamp':
      return typeof value === 'string' && TIMESTAMP.test(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'link':
      return isLink(value)
    case 'links':
      return Array.isArray(value) && value.every(isLink)
  }
}

/** Without a target it has an empty identifier and no address. */
function isLink(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { identifier, link } = value as { identifier?: unknown; link?: unknown }
  return link === null
    ? identifier === ''
    : typeof link === 'string' &&
        link.startsWith('https://') &&
        (typeof identifier === 'string' || Number.isInteger(identifier)) &&
        identifier !== ''
}
