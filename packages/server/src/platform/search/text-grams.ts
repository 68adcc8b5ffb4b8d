/*
 * How a text is found by an index, whole or by a part of any length: by its grams, which are one, two or
 * three characters in a row. The functions `text_grams` and `member_grams` of the database say which a
 * text has; this file says which of them a search asks for. Owns no list and no field.
 */
import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause } from './search-field.ts'

/** Texts of one kind, with a GIN index of their grams. */
export interface GramIndex {
  /** The text itself. */
  readonly text: RawBuilder<unknown>
  /** What is indexed. */
  readonly grams: RawBuilder<unknown>
  /** What tells the grams from those of other texts in the same index; undefined for one kind alone. */
  readonly tag?: RawBuilder<unknown>
  /** A few rows of the list, as an item of `from`. */
  readonly sample: (rows: number) => RawBuilder<unknown>
}

const GRAM_LENGTH = 3
const CODE_POINT_BITS = 21n

/** Seed of the hash of whole texts, and mark of texts too long to know all of their grams. */
const WHOLE_TEXT_SEED = 1
const LONG_TEXT = -1n

const SAMPLE_ROWS = 200
/** Of a sampled text, what tells how frequent grams are. */
const SAMPLE_LENGTH = 500
/** Of the grams of a long part, so many are thought about, and so many asked for. */
const CONSIDERED_MAX = 64
const SOUGHT_MAX = 8
/** Grams that so many texts have are mostly those of a word: further ones say nothing, and cost as much. */
const FREQUENT_SHARE = 0.05

/**
 * What follows from a clause about a text, answered by the index; undefined for a part of no characters.
 * Finds too much at times, and never too little.
 */
export async function findGramCondition(
  db: Kysely<Schema>,
  index: GramIndex,
  clause: SearchClause,
): Promise<Expression<SqlBool> | undefined> {
  const { grams, tag } = index
  const tagged = (gram: RawBuilder<unknown>) => (tag === undefined ? gram : sql`(${tag} # ${gram})`)
  if (clause.operator === ':') {
    const hashes = clause.values.map((value) =>
      tagged(sql`hashtextextended(${String(value)}, ${sql.lit(WHOLE_TEXT_SEED)})`),
    )
    return sql<SqlBool>`${grams} && array[${sql.join(hashes)}]`
  }
  const sought = await chooseGrams(db, index, String(clause.values[0]))
  if (sought.length === 0) return undefined
  const toNumber = (gram: bigint) => tagged(sql`${String(gram)}::bigint`)
  return sql<SqlBool>`(
    ${grams} @> array[${sql.join(sought.map((gram) => toNumber(packGram(gram))))}]
    or ${grams} @> array[${toNumber(LONG_TEXT)}])`
}

/**
 * The longest grams of a part. Those that many texts have are left out where others are rare: each would
 * be looked up for every text with the rare ones, in a list as long as the list itself. For "SN000424",
 * that takes 20 ms among a million texts that all have "SN0", and 1 ms without.
 */
async function chooseGrams(
  db: Kysely<Schema>,
  { text, sample }: GramIndex,
  part: string,
): Promise<Gram[]> {
  const hasChoice = Array.from(part).length > GRAM_LENGTH
  // Lower case is what the database takes for it.
  const { rows } = await sql<{ part: string; texts: string[] }>`
    select lower(${part}) as part, ${
      hasChoice
        ? sql`array(select lower(left(${text}, ${sql.lit(SAMPLE_LENGTH)}))
            from ${sample(SAMPLE_ROWS)} where ${text} is not null)`
        : sql`'{}'::text[]`
    } as texts`.execute(db)
  const [found] = rows
  if (found === undefined) return []
  const grams = splitGrams(Array.from(found.part))
  if (grams.length <= 1 || found.texts.length === 0) return grams.slice(0, SOUGHT_MAX)
  return chooseRare(grams, found.texts)
}

/** The characters of a gram, each of one code point. */
type Gram = readonly string[]

function splitGrams(letters: readonly string[]): Gram[] {
  if (letters.length === 0) return []
  if (letters.length <= GRAM_LENGTH) return [letters]
  const count = letters.length - GRAM_LENGTH + 1
  const step = Math.ceil(count / CONSIDERED_MAX)
  return Array.from({ length: Math.ceil(count / step) }, (_, index) =>
    letters.slice(index * step, index * step + GRAM_LENGTH),
  )
}

function chooseRare(grams: readonly Gram[], texts: readonly string[]): Gram[] {
  const counted = grams
    .map((gram) => ({ gram, count: countTexts(gram.join(''), texts) }))
    .sort((a, b) => a.count - b.count)
  const countMin = counted[0]?.count ?? 0
  const rare = counted.filter(({ count }) => count <= 2 * (countMin + 1)).map(({ gram }) => gram)
  const isFrequent = countMin > texts.length * FREQUENT_SHARE
  return isFrequent
    ? [...new Set([...rare.slice(0, 1), ...rare.slice(-1)])]
    : rare.slice(0, SOUGHT_MAX)
}

function countTexts(part: string, texts: readonly string[]): number {
  return texts.reduce((count, text) => (text.includes(part) ? count + 1 : count), 0)
}

/** As `text_grams` does it. */
function packGram(gram: Gram): bigint {
  return gram.reduce(
    (packed, letter) => (packed << CODE_POINT_BITS) | BigInt(letter.codePointAt(0) ?? 0),
    0n,
  )
}
