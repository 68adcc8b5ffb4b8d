/*
 * Bounds what the parser is given. It runs in this process, keeps its own stack, and a text that
 * overflows it leaves it damaged for every later one; so what could nest too deeply is counted before.
 */
import { nestedTooDeeply } from './sql-check.ts'
import { refusedSql } from './sql-tree.ts'

const SQL_LENGTH_MAX = 20_000
/**
 * Words and signs, without what cannot nest: commas, values and comments. Each opens at most one level;
 * the parser takes more than 5,000.
 */
const NESTING_TOKENS_MAX = 3_000

const NEVER_NESTS = /^(?:[,;'"\d]|--|\/\*|[eExXbBnN]')/

/**
 * Passes a text that the parser can be given.
 *
 * @throws AppError `invalid_body`
 */
export async function assertParsable(text: string): Promise<void> {
  if (text.trim() === '' || text.length > SQL_LENGTH_MAX) {
    throw refusedSql(`must have 1 to ${SQL_LENGTH_MAX} characters`)
  }
  // The parser reads to the first NUL and the database to the end.
  if (text.includes('\0') || !text.isWellFormed()) {
    throw refusedSql('must be text, without NUL characters and broken surrogate pairs')
  }
  if ((await countNestingTokens(text)) > NESTING_TOKENS_MAX) throw nestedTooDeeply()
}

/** The grammar of PostgreSQL, which is loaded with the first text that needs it. */
export function loadParser() {
  return import('libpg-query')
}

/** Every word and sign, those within values and comments too: never less than the scanner finds. */
const WORD_OR_SIGN = /[\p{L}_][\p{L}\d_$]*|[^\s\p{L}\d_,;'"]/gu

/** A text that cannot be scanned cannot be parsed either; the parser says better why. */
async function countNestingTokens(text: string): Promise<number> {
  const upperBound = text.match(WORD_OR_SIGN)?.length ?? 0
  if (upperBound <= NESTING_TOKENS_MAX) return upperBound
  const { scan } = await loadParser()
  try {
    const { tokens } = await scan(text)
    return tokens.filter((token) => !NEVER_NESTS.test(token.text)).length
  } catch {
    return 0
  }
}
