/*
 * Decides whether a text is one SELECT over the reporting tables. The text is parsed with PostgreSQL's
 * own grammar and its tree may consist of known nodes only, so nothing else of the database can be
 * named: no other table, no function beyond the list, no writing, no locking.
 */
import { hasSqlDetails, parse } from 'libpg-query'
import { AppError } from '../../platform/app-error.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

const SQL_LENGTH_MAX = 20_000

const TABLE_NAMES = new Set(REPORTING_TABLES.map((table) => table.name))

const FUNCTIONS: ReadonlySet<string> = new Set(
  `abs array_agg avg bool_and bool_or btrim ceil ceiling char_length coalesce concat concat_ws count
  date_part date_trunc dense_rank every first_value floor greatest initcap jsonb_agg lag last_value
  lead least left length lower lpad ltrim max min mod now ntile nullif percent_rank position rank
  regexp_count regexp_like regexp_match regexp_substr replace reverse right round row_number rpad rtrim
  sign split_part starts_with string_agg strpos substr substring sum to_char to_timestamp trim
  trunc upper extract timezone`
    .trim()
    .split(/\s+/),
)

const TYPES: ReadonlySet<string> = new Set(
  'text varchar bpchar int2 int4 int8 float4 float8 numeric bool date timestamp timestamptz time interval'.split(
    ' ',
  ),
)

const NODES: ReadonlySet<string> = new Set(
  `SelectStmt ResTarget ColumnRef A_Const A_Expr BoolExpr FuncCall RangeVar JoinExpr RangeSubselect
  CommonTableExpr SortBy NullTest CaseExpr CaseWhen CoalesceExpr TypeCast SubLink A_Star String List
  MinMaxExpr A_ArrayExpr A_Indirection A_Indices BooleanTest RowExpr WindowDef GroupingSet
  SQLValueFunction Integer Float Boolean NamedArgExpr`
    .trim()
    .split(/\s+/),
)

/** Values such as `current_date`; the others tell the role and the database. */
const SESSION_FREE_VALUES: ReadonlySet<string> = new Set([
  'SVFOP_CURRENT_DATE',
  'SVFOP_CURRENT_TIME',
  'SVFOP_CURRENT_TIMESTAMP',
])

/** `select`'s members that would do more than read. */
const REFUSED_MEMBERS: ReadonlySet<string> = new Set([
  'intoClause',
  'lockingClause',
  'onConflictClause',
])

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * Passes when the SQL may be saved and run.
 *
 * @throws AppError `invalid_body` saying what is not allowed and what is
 */
export async function checkReportingSql(text: string): Promise<void> {
  if (text.trim() === '' || text.length > SQL_LENGTH_MAX) {
    throw refusal(`must have 1 to ${SQL_LENGTH_MAX} characters`)
  }
  const statements = await parseStatements(text)
  const [only] = statements
  if (statements.length !== 1 || only?.stmt?.SelectStmt === undefined) {
    throw refusal('must be one SELECT statement')
  }
  const tree = only.stmt as unknown as Json
  const problem = findProblem(tree, new Set([...TABLE_NAMES, ...listCommonTableNames(tree)]))
  if (problem !== undefined) throw refusal(problem)
}

async function parseStatements(text: string) {
  try {
    const result = (await parse(text)) as { stmts?: { stmt?: { SelectStmt?: unknown } }[] }
    return result.stmts ?? []
  } catch (error) {
    const cursor = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined
    const position = cursor === undefined ? '' : ` at position ${cursor}`
    const reason = error instanceof Error ? error.message : 'not SQL'
    throw refusal(`cannot be understood: ${reason}${position}`)
  }
}

function listCommonTableNames(tree: Json): string[] {
  const names: string[] = []
  visit(tree, (name, node) => {
    if (name === 'CommonTableExpr' && typeof node['ctename'] === 'string')
      names.push(node['ctename'])
  })
  return names
}

function findProblem(tree: Json, tableNames: ReadonlySet<string>): string | undefined {
  let problem: string | undefined
  visit(tree, (name, node) => {
    problem ??= findNodeProblem(name, node, tableNames)
  })
  return problem
}

function findNodeProblem(
  name: string,
  node: { [name: string]: Json },
  tableNames: ReadonlySet<string>,
): string | undefined {
  const refusedMember = Object.keys(node).find((member) => REFUSED_MEMBERS.has(member))
  if (refusedMember !== undefined) return 'must not write or lock'
  if (isNodeName(name) && !NODES.has(name)) return `must not use ${name}`
  switch (name) {
    case 'RangeVar':
      return findTableProblem(node, tableNames)
    case 'FuncCall':
      return findNameProblem(node['funcname'], FUNCTIONS, 'function')
    case 'typeName':
      return findNameProblem(node['names'], TYPES, 'type')
    case 'SQLValueFunction':
      return SESSION_FREE_VALUES.has(readText(node['op']))
        ? undefined
        : 'must not ask for the session'
    default:
      return undefined
  }
}

function findTableProblem(
  node: { [name: string]: Json },
  tableNames: ReadonlySet<string>,
): string | undefined {
  const table = readText(node['relname'])
  if (node['schemaname'] === undefined && node['catalogname'] === undefined) {
    if (tableNames.has(table)) return undefined
  }
  return `must read reporting tables only, without a schema: ${[...TABLE_NAMES].join(', ')}`
}

function findNameProblem(
  parts: Json | undefined,
  allowed: ReadonlySet<string>,
  what: string,
): string | undefined {
  const words = (Array.isArray(parts) ? parts : []).map((part) => readString(part))
  const [last] = words.slice(-1)
  const isBuiltIn = words.length === 1 || (words.length === 2 && words[0] === 'pg_catalog')
  if (last !== undefined && isBuiltIn && allowed.has(last)) return undefined
  return `must not use the ${what} ${words.join('.')}; allowed are ${[...allowed].join(', ')}`
}

function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function readString(part: Json): string {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return ''
  const word = part['String']
  if (typeof word !== 'object' || word === null || Array.isArray(word)) return ''
  return typeof word['sval'] === 'string' ? word['sval'] : ''
}

/** Node names begin with a capital letter, member names do not. */
function isNodeName(name: string): boolean {
  return /^[A-Z]/.test(name)
}

/** Calls `onObject` with every object of the tree and the name that it stands under. */
function visit(
  value: Json,
  onObject: (name: string, node: { [name: string]: Json }) => void,
  name = '',
): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) visit(item, onObject, name)
    return
  }
  onObject(name, value)
  for (const [member, child] of Object.entries(value)) visit(child, onObject, member)
}

function refusal(message: string): AppError {
  return new AppError('invalid_body', `sql ${message}.`, {
    details: [{ path: 'sql', message }],
  })
}
