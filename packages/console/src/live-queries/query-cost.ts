/* What a query may cost on devices, and where it can answer nothing: read from its words, before anybody is asked. */
import { OSQUERY_TABLES, PLATFORM_NAMES, type OsqueryTable } from '../kit/osquery-tables.ts'
import { texts } from './texts.ts'

const TABLES = new Map(OSQUERY_TABLES.map((table) => [table.name, table]))
const NAMED_TABLE =
  /\b(?:from|join)\s+["'`[]?([a-z_]\w*)|,\s*([a-z_]\w*)\s+(?:as\s+)?\w+\s*(?=,|where|join|$)/gi
const DEFINED_NAME = /\b([a-z_]\w*)\s+as\s+(?:not\s+)?(?:materialized\s+)?\(\s*select\b/gi

/** Sentences that warn; none when nothing speaks against the query. */
export function describeCosts(sql: string): string[] {
  const text = sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
  const defined = new Set(
    [...text.matchAll(DEFINED_NAME)].map(([, name = '']) => name.toLowerCase()),
  )
  const names = [...text.matchAll(NAMED_TABLE)]
    .map(([, first, second]) => (first ?? second ?? '').toLowerCase())
    .filter((name) => name !== '' && name !== 'select' && !defined.has(name))
  const costs = [...new Set(names)].flatMap((name) => costsOfTable(name, text))
  const isNarrow = /\b(?:where|limit|count\s*\()/i.test(text)
  return names.length > 0 && !isNarrow ? [...costs, texts.costs.broad] : costs
}

function costsOfTable(name: string, text: string): string[] {
  const { costs } = texts
  const table = TABLES.get(name)
  if (table === undefined) return [costs.unknown(name)]
  const required = table.columns.filter(({ isRequired }) => isRequired)
  const isNarrowed = required.some((column) =>
    new RegExp(String.raw`\b${column.name}\b`, 'i').test(afterWhere(text)),
  )
  const own = (costs as Readonly<Record<string, unknown>>)[name]
  return [
    ...(typeof own === 'string' ? [own] : []),
    ...(required.length > 0 && !isNarrowed
      ? [costs.narrow(name, required.map((column) => column.name).join(' or '))]
      : []),
    ...(name.endsWith('_events') ? [costs.events] : []),
    ...(table.platforms.length < Object.keys(PLATFORM_NAMES).length
      ? [costs.platform(name, namePlatforms(table))]
      : []),
  ]
}

function afterWhere(text: string): string {
  const start = text.search(/\b(?:where|on|using)\b/i)
  return start < 0 ? '' : text.slice(start)
}

function namePlatforms({ platforms }: OsqueryTable): string {
  return platforms.map((platform) => PLATFORM_NAMES[platform]).join(' and ')
}
