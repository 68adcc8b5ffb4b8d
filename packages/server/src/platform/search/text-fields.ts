/*
 * Fields of texts that are found by more than an index of the whole column: what a list gives as the column of a field.
 */
import { sql, type Expression, type SqlBool } from 'kysely'
import type { SearchClause } from './search-field.ts'
import { clauseToSql, toPattern, type ConditionUse } from './search-to-sql.ts'

/** A column in which many rows have few different texts. */
interface FewTexts {
  readonly table: string
  readonly column: string
}

/**
 * A field of few different texts, of which the first 64 characters are indexed: a whole one could be larger than an
 * index entry may be. A part is looked for in these, taken from the index one after the other.
 */
export function fewTextsField({ table, column }: FewTexts) {
  const text = sql.ref(`${table}.${column}`)
  const own = sql.ref(column)
  return (clause: SearchClause, use: ConditionUse): Expression<SqlBool> => {
    const isMatch = clauseToSql(text, clause)
    if (use === 'compared') return isMatch
    if (clause.operator === ':') {
      return sql<SqlBool>`(${isMatch} and left(${text}, 64) = left(${clause.values[0]}, 64))`
    }
    return sql<SqlBool>`(left(${text}, 64) = any(array(
      with recursive few as (
        (select left(${own}, 64) as beginning from ${sql.table(table)} order by 1 limit 1)
        union all
        select (
          select left(${own}, 64) from ${sql.table(table)}
          where left(${own}, 64) > few.beginning order by 1 limit 1
        ) from few where few.beginning is not null
      )
      select beginning from few
      where ${clauseToSql(sql.ref('beginning'), clause)} or length(beginning) = 64
    )) and ${isMatch})`
  }
}

/** A text of which summaries of pages hold whole values in the collation "C", beside a key that is never negative. */
interface SummarisedText {
  readonly column: string
  readonly key: Expression<unknown>
}

/**
 * A text that has a trigram index as well, where it is all that is looked for. Trigrams tell words from each other, not
 * a whole text from others with the same words, of which there may be very many: the summaries lead to the few pages
 * that may have it. They answer the collation alone. By how many rows have the text as a part of theirs, PostgreSQL
 * knows how many the trigrams lead to.
 */
export function summarisedText({ column, key }: SummarisedText) {
  const text = sql.ref(column)
  return (clause: SearchClause): Expression<SqlBool> => {
    if (clause.operator !== ':') return clauseToSql(text, clause)
    const [value] = clause.values
    const isInSummary = sql<SqlBool>`(${text} collate "C") = ${value} and ${key} >= 0`
    return sql<SqlBool>`(${isInSummary} and ${text} ilike ${toPattern(String(value))})`
  }
}

/**
 * Whether any row has the whole text that is looked for, by the summaries alone. What holds of every key PostgreSQL
 * expects of one in 200, where it is an expression: else it would read the table up to the first row that has a
 * frequent text, which may be one of the last.
 */
export function hasSummarisedText(table: string, { column, key }: SummarisedText) {
  const text = sql.ref(column)
  return ({ operator, values }: SearchClause): Expression<SqlBool> | undefined => {
    if (operator !== ':') return undefined
    return sql<SqlBool>`exists (
      select from ${sql.table(table)} where (${text} collate "C") = ${values[0]} and ${key} >= 0
        and ${key} % 1 = 0 and ${key} * 0 = 0)`
  }
}
