/*
 * What is known of the page that a search looks for before its statement is written: what is behind its start, and the
 * queries that several parts of the statement share.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { PageWindow } from '../db/page.ts'
import type { SearchClause } from './search-field.ts'
import type { KeyReach } from './search-to-sql.ts'

/** What likely rows are told about the page that they are for. */
export interface PageSought {
  readonly isDescending: boolean
  /** What is behind the start of the page. */
  readonly reach: KeyReach
  /** Where they put what they are found by, if matches are found by it as well. */
  readonly shared: SharedQueries
}

export function toPageSought({ isDescending = false, afterId }: PageWindow): PageSought {
  const shared = new SharedQueries()
  const reach: KeyReach = {
    has: (column, of) =>
      afterId === undefined
        ? sql<SqlBool>`true`
        : compare(column, isDescending, of(sql`${afterId}`)),
    sharedOf: (clause) => shared.of(clause),
  }
  return { isDescending, reach, shared }
}

interface SharedQuery {
  readonly name: RawBuilder<unknown>
  readonly query: RawBuilder<unknown>
}

/** Queries that likely rows and matches are both found by. PostgreSQL asks once what is selected from twice. */
class SharedQueries {
  readonly #queries = new Map<SearchClause, SharedQuery>()

  /** What is selected from for a clause from now on. */
  add(clause: SearchClause, query: RawBuilder<unknown>): RawBuilder<unknown> {
    const known = this.#queries.get(clause)
    if (known !== undefined) return known.name
    const name = sql.table(`shared_${this.#queries.size}`)
    this.#queries.set(clause, { name, query })
    return name
  }

  of(clause: SearchClause): RawBuilder<unknown> | undefined {
    return this.#queries.get(clause)?.name
  }

  /** The statement, which selects from what was shared until now. */
  toStatement(statement: RawBuilder<unknown>): RawBuilder<unknown> {
    const queries = [...this.#queries.values()].map(({ name, query }) => sql`${name} as (${query})`)
    return queries.length === 0
      ? statement
      : sql`with ${sql.join(queries)} select * from (${statement}) as page`
  }
}

/** That a key is not behind another one, in one direction or the other. */
export function compare(
  column: Expression<unknown>,
  isBefore: boolean,
  value: Expression<unknown>,
): Expression<SqlBool> {
  return sql<SqlBool>`${column} ${isBefore ? sql`<=` : sql`>=`} ${value}`
}
