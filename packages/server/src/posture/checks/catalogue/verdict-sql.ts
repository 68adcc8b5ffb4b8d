// Builds the SQL of catalogue checks, so that every query keeps the rule on rows: one row always for a
// verdict on the device, or one row per object that is wrong and a single other row when none is.

/** A condition over the facts of a verdict, and the status that it leads to. */
export type VerdictCase = readonly [
  status: 'PASS' | 'FAIL' | 'UNKNOWN' | 'INAPPLICABLE',
  condition: string,
]

interface VerdictQuery {
  /** Common table expressions that the facts read, without the word WITH. */
  readonly with?: string
  /** Column to a SELECT of at most one value; a SELECT without a row makes the fact NULL. */
  readonly facts: Readonly<Record<string, string>>
  /** Read in order; the first condition that holds decides. NULL does not hold. */
  readonly cases: readonly VerdictCase[]
  /** `UNKNOWN` when left out. */
  readonly otherwise?: 'PASS' | 'FAIL'
}

/**
 * SQL that answers exactly one row: every fact as a column, and the verdict. Facts are scalar
 * subqueries, so that empty tables still give a row.
 */
export function verdictSql(query: VerdictQuery): string {
  const facts = Object.entries(query.facts).map(([column, sql]) => `(${sql}) AS ${column}`)
  const cases = query.cases.map(([status, condition]) => `WHEN ${condition} THEN '${status}'`)
  const prefix = query.with === undefined ? '' : `${query.with},\n`
  return `WITH ${prefix}facts AS (SELECT
  ${facts.join(',\n  ')}
)
SELECT ${Object.keys(query.facts).join(', ')},
  CASE
    ${cases.join('\n    ')}
    ELSE '${query.otherwise ?? 'UNKNOWN'}'
  END AS KOLIDE_CHECK_STATUS
FROM facts`
}

/** SQL that answers one row: PASS where `pass` holds, else FAIL where `fail` holds, else UNKNOWN. */
export function passOrFailSql({
  pass,
  fail,
  ...query
}: Omit<VerdictQuery, 'cases' | 'otherwise'> & {
  readonly pass: string
  readonly fail: string
}): string {
  const cases: readonly VerdictCase[] = [
    ['PASS', pass],
    ['FAIL', fail],
  ]
  return verdictSql({ ...query, cases })
}

/** SQL that passes on a Linux where none of these systemd units is active. */
export function noActiveUnitsSql(units: readonly string[]): string {
  return verdictSql({
    facts: {
      units_seen: `SELECT COUNT(*) FROM systemd_units`,
      active_units: activeUnitsSql(units),
    },
    cases: [
      ['UNKNOWN', `units_seen = 0`],
      ['FAIL', `active_units IS NOT NULL`],
    ],
    otherwise: 'PASS',
  })
}

/**
 * SQL that answers one FAIL row per row of `select`, or one row of empty columns when there are none.
 * `columns` are the columns of `select` in order, the primary key first. `cases` say when that one row
 * is no PASS: a table that answers nothing at all often could not be read, or holds nothing to judge.
 * `tables` are common table expressions that `select` and `cases` read, without the word WITH.
 */
export function failingRowsSql(
  columns: readonly [string, ...string[]],
  select: string,
  cases: readonly VerdictCase[] = [],
  tables?: string,
): string {
  const empty = columns.map((column) => `'' AS ${column}`).join(', ')
  const prefix = tables === undefined ? '' : `${tables},\n`
  return `WITH ${prefix}failing(${columns.join(', ')}) AS (
${select}
)
SELECT ${columns.join(', ')}, 'FAIL' AS KOLIDE_CHECK_STATUS FROM failing
UNION ALL
SELECT ${empty}, ${otherVerdictSql(cases)} AS KOLIDE_CHECK_STATUS WHERE NOT EXISTS (SELECT 1 FROM failing)`
}

function otherVerdictSql(cases: readonly VerdictCase[]): string {
  if (cases.length === 0) return `'PASS'`
  const branches = cases.map(([status, condition]) => `WHEN ${condition} THEN '${status}'`)
  return `CASE ${branches.join(' ')} ELSE 'PASS' END`
}

/** True for tables that answer no row. */
export function isEmptySql(from: string): string {
  return `NOT EXISTS (SELECT 1 FROM ${from})`
}

/** SELECT of one registry value's data. `path` is the full path: hive, key and value name. */
export function registryValueSql(path: string): string {
  return `SELECT data FROM registry WHERE path = ${quoteSql(path)} LIMIT 1`
}

/** SELECT of one top-level value of a property list file. */
export function plistValueSql(path: string, key: string): string {
  return `SELECT value FROM plist WHERE path = ${quoteSql(path)} AND key = ${quoteSql(key)} AND COALESCE(subkey, '') = '' LIMIT 1`
}

/** SELECT of one device-wide value that a configuration profile sets. */
export function managedPolicyValueSql(domain: string, name: string): string {
  return `SELECT value FROM managed_policies WHERE domain = ${quoteSql(domain)} AND name = ${quoteSql(name)} AND COALESCE(username, '') = '' LIMIT 1`
}

/** SELECT of the names of those systemd units, out of `units`, that are active; NULL when none is. */
export function activeUnitsSql(units: readonly string[]): string {
  return `SELECT group_concat(id, ', ') FROM systemd_units WHERE active_state = 'active' AND id IN (${quoteListSql(units)})`
}

/** True for the spellings of a set boolean in property lists and profiles. */
export function isSetSql(expression: string): string {
  return `lower(${expression}) IN ('1', 'true', 'yes')`
}

/** True for the spellings of a cleared boolean in property lists and profiles. */
export function isClearedSql(expression: string): string {
  return `lower(${expression}) IN ('0', 'false', 'no')`
}

/** The number before the first dot of a version; the epoch of a Debian version is skipped. */
export function majorVersionSql(expression: string): string {
  return `CAST(substr(${expression}, instr(${expression}, ':') + 1) AS INTEGER)`
}

const VERSION_PART_LIMIT = 100_000

/** The first three numbers of a version such as `5.12.1` as one number; those that are not there count as 0. */
export function versionNumberSql(expression: string): string {
  const text = `(${expression} || '.0.0')`
  const second = `substr(${text}, instr(${text}, '.') + 1)`
  const third = `substr(${second}, instr(${second}, '.') + 1)`
  const toNumber = (part: string) => `CAST(${part} AS INTEGER)`
  return `(${toNumber(text)} * ${VERSION_PART_LIMIT ** 2} + ${toNumber(second)} * ${VERSION_PART_LIMIT} + ${toNumber(third)})`
}

/** A string as a SQL literal. */
export function quoteSql(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Strings as the inside of a SQL list. */
export function quoteListSql(texts: readonly string[]): string {
  return texts.map(quoteSql).join(', ')
}

/** True when the expression matches one of the LIKE patterns. */
export function likeAnySql(expression: string, patterns: readonly string[]): string {
  return `(${patterns.map((pattern) => `${expression} LIKE ${quoteSql(pattern)}`).join(' OR ')})`
}
