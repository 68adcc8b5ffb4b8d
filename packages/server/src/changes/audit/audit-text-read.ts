/*
 * How entries are found by their descriptions: by what 32 entries together say, which is indexed, and then one by one.
 * The rows with their texts are written by the chainer, of entries that are settled: each description once, in lower
 * case and with 0 for each number, between ends of lines, and the words with digits, between spaces.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { PageSought } from '../../platform/search/page-sought.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import {
  clauseToSql,
  lowerTextContains,
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
  const blocks = reach.sharedOf(clause) ?? sql`(${selectBlocks(clause, reach)})`
  const inNoBlock = sql`(select coalesce(max(block) + 1, 0) << 5 from audit_description_block)`
  if (use === 'found apart') {
    return sql<SqlBool>`(audit_entry.sequence >> 5 = any(array(
      select block from ${blocks} as found
      union all
      select later.sequence >> 5 from audit_entry as later where later.sequence >= ${inNoBlock}
    )) and ${isMatch})`
  }
  return [
    sql<SqlBool>`exists (select from ${blocks} as found
      where block = audit_entry.sequence >> 5) and ${isMatch}`,
    sql<SqlBool>`audit_entry.sequence >= ${inNoBlock} and ${isMatch}`,
  ]
}

/**
 * The entries of the last blocks that have the texts of a description. All blocks with them are found before they
 * are sorted, and the search goes on with them: to look for texts in one block after the other, as PostgreSQL would
 * for the order of the key, takes longer. None where the index of texts answers nothing: all of them would be read here
 * and again.
 */
export function inLastBlocks(
  clauses: readonly SearchClause[],
  { isDescending, reach, shared }: PageSought,
): RawBuilder<unknown> | undefined {
  const clause = clauses.find(
    (one) => one.field.name === 'description' && textsOf(one).some((text) => [...text].length > 2),
  )
  if (clause === undefined || !isDescending) return undefined
  return sql`audit_entry.sequence >> 5 = any(array(
    select block from ${shared.add(clause, selectBlocks(clause, reach))}
    order by block + 0 desc limit ${sql.lit(LAST_BLOCKS)}))`
}

/** The blocks within reach that have the texts of a description. */
function selectBlocks(clause: SearchClause, reach: KeyReach): RawBuilder<unknown> {
  return sql`select block from audit_description_block
    where ${hasTexts(clause)} and ${reach.has(sql.ref('block'), toBlock)}`
}

function toBlock(sequence: Expression<unknown>): Expression<unknown> {
  return sql`${sequence}::bigint >> 5`
}

/** That a block says what a description says, but for its numbers, and has each of its words with digits. */
function hasTexts(clause: SearchClause): RawBuilder<SqlBool> {
  const conditions = textsOf(clause).map((text) => lowerTextContains(sql.ref('texts'), text))
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

/** What the row of a block contains where one of its entries may be meant; at the ends of a part, parts of words. */
function textsOf({ operator, values: [value] }: SearchClause): string[] {
  const text = String(value)
  const isWhole = operator === ':'
  const end = isWhole ? '\n' : ''
  const words = (isWhole ? ` ${text} ` : text).split(' ')
  const numbered = words.flatMap((word, index) =>
    /[0-9]/.test(word)
      ? [`${index === 0 ? '' : ' '}${word}${index === words.length - 1 ? '' : ' '}`]
      : [],
  )
  return [`${end}${text.replace(/[0-9]+/g, '0')}${end}`, ...numbered]
}
