/*
 * How entries are found by their descriptions: by the words of 32 entries together, which are indexed, and then one by
 * one. The rows with the words are written by the chainer, of entries that are settled.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { PageSought } from '../../platform/search/record-list.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import {
  clauseToSql,
  type ClauseCondition,
  type ConditionUse,
  type KeyReach,
} from '../../platform/search/search-to-sql.ts'

/** The entries of a block have the same sequence but for these bits. */
const BLOCK_BITS = 5n

/** More than a page has entries. */
const LAST_BLOCKS = 120

/**
 * Whether a block has become complete when the entries up to `settled` are settled, after those up to `before` were.
 */
export function isBlockComplete(before: bigint, settled: bigint): boolean {
  return (settled + 1n) >> BLOCK_BITS > (before + 1n) >> BLOCK_BITS
}

/**
 * The description of an entry, as a field of a list: of those in blocks, and of the last ones, which are in none yet.
 */
export function hasDescription(
  clause: SearchClause,
  use: ConditionUse,
  reach: KeyReach,
): ClauseCondition {
  const isMatch = clauseToSql(sql.ref('audit_entry.description'), clause)
  if (use === 'compared') return isMatch
  const inNoBlock = sql`(select coalesce(max(block) + 1, 0) << 5 from audit_text_block)`
  if (use === 'found apart') {
    return sql<SqlBool>`(audit_entry.sequence >> 5 = any(array(
      select block from audit_text_block where ${hasWords(clause)}
      union all
      select later.sequence >> 5 from audit_entry as later where later.sequence >= ${inNoBlock}
    )) and ${isMatch})`
  }
  return [
    sql<SqlBool>`exists (select from audit_text_block
      where block = audit_entry.sequence >> 5 and ${hasWords(clause)}
        and ${reach(sql.ref('block'), toBlock)}) and ${isMatch}`,
    sql<SqlBool>`audit_entry.sequence >= ${inNoBlock} and ${isMatch}`,
  ]
}

/**
 * The entries of the last blocks that have the words of a description. All blocks with the words are found before they
 * are sorted: to look for words in one block after the other, as PostgreSQL would for the order of the key, takes
 * longer. None where the index of words answers nothing: all of them would be read here and again.
 */
export function inLastBlocks(
  clauses: readonly SearchClause[],
  { isDescending, reach }: PageSought,
): RawBuilder<unknown> | undefined {
  const clause = clauses.find(
    (one) =>
      one.field.name === 'description' && piecesOf(one).some((piece) => [...piece].length > 2),
  )
  if (clause === undefined || !isDescending) return undefined
  return sql`audit_entry.sequence >> 5 = any(array(
    select block from audit_text_block where ${hasWords(clause)} and ${reach(sql.ref('block'), toBlock)}
    order by block + 0 desc limit ${sql.lit(LAST_BLOCKS)}))`
}

function toBlock(sequence: Expression<unknown>): Expression<unknown> {
  return sql`${sequence}::bigint >> 5`
}

/** That a block has each word of the text; at the ends of a part of a description, words that begin or end so. */
function hasWords(clause: SearchClause): RawBuilder<SqlBool> {
  const pieces = piecesOf(clause)
  if (pieces.length === 0) return sql<SqlBool>`true`
  const field = { ...clause.field, type: 'text' } as const
  return sql<SqlBool>`${sql.join(
    pieces.map((piece) =>
      clauseToSql(sql.ref('words'), { ...clause, field, operator: '~', values: [piece] }),
    ),
    sql` and `,
  )}`
}

function piecesOf({ operator, values: [value] }: SearchClause): string[] {
  const text = operator === ':' ? ` ${String(value)} ` : String(value)
  const pieces = text.split(' ')
  return pieces.flatMap((piece, index) =>
    piece === ''
      ? []
      : [`${index === 0 ? '' : ' '}${piece}${index === pieces.length - 1 ? '' : ' '}`],
  )
}
