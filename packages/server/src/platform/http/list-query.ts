/* How the query of a list is declared: its parameters, and what can be searched for. */
import { z } from 'zod'
import { describeSearchFields, type SearchField } from '../search/search-field.ts'
import { PER_PAGE_DEFAULT, PER_PAGE_MAX } from '../db/page.ts'
import { CURSOR_LENGTH_MAX } from './cursor.ts'

const PER_PAGE = /^(?:[1-9]\d?|100)$/

const cursorParameter = z
  .string()
  .max(CURSOR_LENGTH_MAX)
  .optional()
  .describe(
    'The `next_cursor` of the page before. Blank gives the first page; alone it continues a search.',
  )

// Not transformed to a number here: of a transformed schema, the generator drops the default.
const perPageParameter = z
  .string()
  .refine((text) => PER_PAGE.test(text), `must be an integer from 1 to ${PER_PAGE_MAX}`)
  .optional()
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: PER_PAGE_MAX,
    default: PER_PAGE_DEFAULT,
    description: 'Records per page.',
  })

const orderParameter = z
  .enum(['asc', 'desc'])
  .optional()
  .describe('By id: `asc`, the default, gives the oldest records first, `desc` the newest.')

interface ListQueryTraits {
  /** The fields depend on the path and are described elsewhere. */
  readonly isSearchedByPath: boolean
  /** The list takes `order`. */
  readonly isOrdered: boolean
}

/** The query parameters of a list: `query` only where there is something to search. */
export function listQuerySchema(
  fields: readonly SearchField[],
  { isSearchedByPath, isOrdered }: ListQueryTraits,
): z.ZodObject {
  const order = isOrdered ? { order: orderParameter } : {}
  const paging = z.object({ cursor: cursorParameter, per_page: perPageParameter })
  if (fields.length === 0 && !isSearchedByPath) return paging.extend(order)
  const search = 'A search: `field<operator>value`, joined with AND and OR.'
  const description = isSearchedByPath
    ? search
    : `${search} Fields and operators: ${describeSearchFields(fields)}.`
  return paging.extend({ query: z.string().optional().describe(description), ...order })
}

/**
 * An example per field and operator, keyed `<field><operator>`: scripts of the field read the
 * searchable fields of a list out of these keys.
 */
export function searchExamples(
  fields: readonly SearchField[],
): Record<string, { value: string; summary: string }> {
  return Object.fromEntries(
    fields.flatMap((field) =>
      field.operators.map((operator) => [
        `${field.name}${operator}`,
        {
          value: `${field.name}${operator}${exampleValue(field)}`,
          summary: EXPLANATION_OF_OPERATOR[operator],
        },
      ]),
    ),
  )
}

const EXPLANATION_OF_OPERATOR = {
  ':': 'Exactly this value',
  '~': 'Contains this text, in any case',
  '>': 'After this',
  '<': 'Before this',
}

function exampleValue(field: SearchField): string {
  switch (field.type) {
    case 'text':
      return '"a text"'
    case 'id':
      return '1'
    case 'timestamp':
      return '"2026-01-02T03:04:05.678Z"'
    case 'boolean':
      return 'true'
    case 'enum':
      return `"${field.values?.[0] ?? ''}"`
    case 'integer':
      return '1'
  }
}
