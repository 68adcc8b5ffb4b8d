/*
 * Statements of a transaction whose answers nobody needs. They go to the server along with the next statement of the
 * transaction, at the latest with its commit, and save it a round trip each. One that fails fails whatever it went
 * along with, and the transaction with it. Owns how such a statement is told from others: by a comment at its
 * beginning, which means nothing to a server or a pool that knows nothing of this.
 */
import { sql } from 'kysely'

const MARK = '/* unawaited */'

/** The beginning of such a statement: sql`${UNAWAITED} insert into ...`. Its answer says that it changed nothing. */
export const UNAWAITED = sql.raw(MARK)

/**
 * The beginning of such a statement that only bounds its transaction. It takes no time of its own, and a transaction of
 * nothing else need not begin.
 */
export const UNAWAITED_BOUND = sql.raw(`${MARK}/* bound */`)

/** What is around the work of a transaction. */
const FRAME = /^(?:(?:begin|start transaction|commit)\b|\/\* bound \*\/)/

/** Whether a statement only begins, bounds or commits its transaction. */
export function isOfFrame(text: string): boolean {
  return FRAME.test(text)
}

/** The statement itself; undefined for one that is awaited. */
export function unawaitedStatement(text: string): string | undefined {
  return text.startsWith(MARK) ? text.slice(MARK.length) : undefined
}
