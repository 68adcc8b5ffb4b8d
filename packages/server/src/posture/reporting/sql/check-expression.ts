/*
 * Checks expressions node by node: each kind of node has a rule for each of its members, and what has no
 * rule is refused.
 */
import {
  FUNCTIONS,
  OPERATOR_KINDS,
  OPERATORS,
  SESSION_FREE_VALUES,
  SUBLINK_KINDS,
  TYPES,
} from './allowed-names.ts'
import { findRelation, hasUnnamedColumn, isColumn, type Place } from './name-scope.ts'
import { allowMembers, enter, type SqlCheck } from './sql-check.ts'
import {
  readList,
  readMembers,
  readNode,
  readText,
  readWords,
  refusedSql,
  type Json,
  type Members,
} from './sql-tree.ts'

type Rule = (value: Json, place: Place, check: SqlCheck) => void

const TYPE_NAME = new Set(['names', 'typmods', 'typemod', 'arrayBounds', 'location'])

/** What `lpad` and `rpad` may fill a text up to, and `char(n)`. */
const LENGTH_MAX = 1_000

const leaf: Rule = () => undefined
const expression: Rule = (value, place, check) => check.expression(value, place)
const expressions: Rule = (value, place, check) => {
  for (const item of readList(value)) check.expression(item, place)
}
const oneOf =
  (allowed: ReadonlySet<string>, what: string): Rule =>
  (value) => {
    if (!allowed.has(readText(value))) throw refusedSql(`must not use ${what}`)
  }

const operator: Rule = (value) => {
  const words = readWords(value)
  const [word = ''] = words
  if (words.length === 1 && OPERATORS.has(word)) return
  throw refusedSql(`must not use the operator ${words.join('.')}`)
}

const functionName: Rule = (value) => {
  const name = readBuiltIn(value)
  if (name !== undefined && FUNCTIONS.has(name)) return
  throw refusedSql(
    `must not use the function ${readWords(value).join('.')}; allowed are ${[...FUNCTIONS].join(', ')}`,
  )
}

const windowDefinition: Rule = (value, place, check) =>
  checkMembers('WindowDef', readMembers(value), place, check)

const typeName: Rule = (value) => {
  const members = readMembers(value)
  allowMembers('TypeName', members, TYPE_NAME)
  const { names, typmods } = members
  const name = readBuiltIn(names)
  if (name === undefined || !TYPES.has(name)) {
    const given = readWords(names).join('.')
    throw refusedSql(`must not use the type ${given}; allowed are ${[...TYPES].join(', ')}`)
  }
  const isPadded = name === 'bpchar'
  for (const modifier of readList(typmods)) {
    const length = readWholeNumber(modifier)
    if (length === undefined || (isPadded && length > LENGTH_MAX)) {
      throw refusedSql(`must not use char(n) beyond ${LENGTH_MAX}, nor n that is no number`)
    }
  }
}

const subselect: Rule = (value, place, check) => {
  const { kind, members } = readNode(value)
  if (kind !== 'SelectStmt') throw refusedSql(`must not use ${kind}`)
  check.select(members, place)
}

/** `array[1]` and `array[1:2]`; never `(value).name`, which calls the function `name` for what is no column. */
const indirection: Rule = (value, place, check) => {
  for (const item of readList(value)) {
    const { kind, members } = readNode(item)
    if (kind !== 'A_Indices') throw refusedFieldNotation()
    checkMembers(kind, members, place, check)
  }
}

const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  A_ArrayExpr: { elements: expressions, list_start: leaf, list_end: leaf },
  A_Const: { ival: leaf, fval: leaf, sval: leaf, boolval: leaf, isnull: leaf },
  A_Expr: {
    kind: oneOf(OPERATOR_KINDS, 'this operator'),
    name: operator,
    lexpr: expression,
    rexpr: expression,
    rexpr_list_start: leaf,
    rexpr_list_end: leaf,
  },
  A_Indices: { is_slice: leaf, lidx: expression, uidx: expression },
  A_Indirection: { arg: expression, indirection },
  BoolExpr: { boolop: leaf, args: expressions },
  BooleanTest: { arg: expression, booltesttype: leaf },
  CaseExpr: { arg: expression, args: expressions, defresult: expression },
  CaseWhen: { expr: expression, result: expression },
  CoalesceExpr: { args: expressions },
  ColumnRef: { fields: (value, place) => checkColumn(readList(value), place) },
  FuncCall: {
    funcname: functionName,
    args: expressions,
    agg_order: expressions,
    agg_filter: expression,
    over: windowDefinition,
    agg_within_group: leaf,
    agg_star: leaf,
    agg_distinct: leaf,
    funcformat: leaf,
  },
  GroupingFunc: { args: expressions },
  GroupingSet: { kind: leaf, content: expressions },
  List: { items: expressions },
  MinMaxExpr: { op: leaf, args: expressions },
  NamedArgExpr: { arg: expression, name: leaf, argnumber: leaf },
  NullTest: { arg: expression, nulltesttype: leaf },
  RowExpr: { args: expressions, row_format: leaf },
  SQLValueFunction: { op: oneOf(SESSION_FREE_VALUES, 'what tells of the session'), typmod: leaf },
  SortBy: { node: expression, sortby_dir: leaf, sortby_nulls: leaf },
  SubLink: {
    subLinkType: oneOf(SUBLINK_KINDS, 'this form of a sub-select'),
    testexpr: expression,
    operName: operator,
    subselect,
  },
  TypeCast: { arg: expression, typeName },
  WindowDef: {
    name: leaf,
    refname: leaf,
    partitionClause: expressions,
    orderClause: expressions,
    frameOptions: leaf,
    startOffset: expression,
    endOffset: expression,
  },
}

/** @throws AppError `invalid_body` for anything that no rule allows */
export function checkExpression(value: Json, place: Place, check: SqlCheck): void {
  const { kind, members } = readNode(value)
  if (kind === 'FuncCall') checkPadding(members)
  const field = kind === 'A_Indirection' ? findFieldOfRelation(members) : undefined
  if (field === undefined) checkMembers(kind, members, enter(place), check)
  else checkFieldOfRelation(field, place)
}

function checkMembers(kind: string, members: Members, place: Place, check: SqlCheck): void {
  const rules = Object.hasOwn(RULES, kind) ? RULES[kind] : undefined
  if (rules === undefined) throw refusedSql(`must not use ${kind}`)
  for (const [name, value] of Object.entries(members)) {
    if (name === 'location') continue
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) throw refusedSql(`must not use ${name} of ${kind}`)
    rule(value, place, check)
  }
}

/** A column, `relation.column`, a whole row, or `relation.*` where a row is wanted. */
function checkColumn(fields: readonly Json[], { columns }: Place): void {
  const [first, second, ...others] = fields.map((field) => readNode(field))
  const name = readText(first?.members['sval'])
  if (first?.kind !== 'String' || others.length > 0) {
    throw refusedSql('must name columns as column or as relation.column')
  }
  const relation = findRelation(columns, name)
  if (second === undefined) {
    if (isColumn(columns, name) || relation !== undefined) return
    throw refusedSql(`names the column ${name}, which does not exist here`)
  }
  if (relation === undefined) throw refusedSql(`names ${name}, which is no relation here`)
  if (second.kind === 'A_Star') return
  const column = readText(second.members['sval'])
  if (second.kind === 'String' && relation.includes(column)) return
  throw refusedSql(`names the column ${name}.${column}, which does not exist`)
}

/** The name before and the field after the dot of `(relation).column` and `(relation).*`. */
function findFieldOfRelation({ arg, indirection: steps }: Members): [string, Json] | undefined {
  const [field, ...further] = readList(steps)
  if (field === undefined || further.length > 0 || readNode(field).kind === 'A_Indices') {
    return undefined
  }
  const { kind, members } = readNode(arg)
  const [name, ...others] = kind === 'ColumnRef' ? readList(members['fields']) : []
  if (name === undefined || others.length > 0) throw refusedFieldNotation()
  return [readText(readNode(name).members['sval']), field]
}

/** PostgreSQL looks for a column of that name first, whose field would be a function. */
function checkFieldOfRelation([name, field]: [string, Json], place: Place): void {
  if (isColumn(place.columns, name)) throw refusedFieldNotation()
  if (hasUnnamedColumn(place.columns)) {
    throw refusedSql('must give each column a name by AS where it uses (relation).name')
  }
  checkColumn([{ String: { sval: name } }, field], place)
}

function refusedFieldNotation(): Error {
  return refusedSql('must not use (value).name, except for a column of a relation')
}

/** The one way to make a long text of a short one without repeating it. */
function checkPadding({ funcname, args }: Members): void {
  const name = readWords(funcname).at(-1)
  if (name !== 'lpad' && name !== 'rpad') return
  const length = readWholeNumber(readList(args)[1])
  if (length !== undefined && length <= LENGTH_MAX) return
  throw refusedSql(`must fill up texts to a number of at most ${LENGTH_MAX} characters`)
}

/** The name of something of `pg_catalog`; undefined for what has another schema. */
function readBuiltIn(value: Json | undefined): string | undefined {
  const [first, second, ...others] = readWords(value)
  if (others.length > 0) return undefined
  if (second === undefined) return first
  return first === 'pg_catalog' ? second : undefined
}

/** A whole number that is written out; zero is left out by the parser. */
function readWholeNumber(value: Json | undefined): number | undefined {
  if (value === undefined) return undefined
  const { kind, members } = readNode(value)
  if (kind !== 'A_Const' || members['ival'] === undefined) return undefined
  const { ival = 0 } = readMembers(members['ival'])
  return typeof ival === 'number' ? ival : undefined
}
