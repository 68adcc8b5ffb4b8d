/*
 * Checks what stands after FROM, and answers which relations and columns it brings along: reporting
 * tables, common table expressions, sub-selects and their joins. Functions, samples and other schemas
 * are refused.
 */
import { namedItem, type Columns, type FromItem, type Place } from './name-scope.ts'
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

const RANGE_VAR = new Set(['relname', 'inh', 'relpersistence', 'alias', 'location'])
const RANGE_SUBSELECT = new Set(['lateral', 'subquery', 'alias'])
const JOIN = new Set([
  'jointype',
  'isNatural',
  'larg',
  'rarg',
  'usingClause',
  'quals',
  'alias',
  'rtindex',
])
const ALIAS = new Set(['aliasname', 'colnames'])

/**
 * The items of a FROM clause. `place` is that of the query, whose columns are those of the queries
 * around it. A sub-select sees the items to its left when it is LATERAL.
 *
 * @throws AppError `invalid_body`
 */
export function checkFrom(value: Json | undefined, place: Place, check: SqlCheck): FromItem[] {
  const items: FromItem[] = []
  for (const item of readList(value)) items.push(checkItem(item, items, place, check))
  return items
}

function checkItem(
  value: Json,
  left: readonly FromItem[],
  outside: Place,
  check: SqlCheck,
): FromItem {
  const place = enter(outside)
  const { kind, members } = readNode(value)
  if (members['alias'] !== undefined) allowMembers('Alias', readMembers(members['alias']), ALIAS)
  switch (kind) {
    case 'RangeVar':
      return checkTable(members, place)
    case 'RangeSubselect':
      return checkSubselect(members, left, place, check)
    case 'JoinExpr':
      return checkJoin(members, left, place, check)
    default:
      throw refusedSql(`must not use ${kind} after FROM`)
  }
}

function checkTable(members: Members, { tables }: Place): FromItem {
  const name = readText(members['relname'])
  const columns = tables.get(name)
  const isPlain = Object.keys(members).every((member) => RANGE_VAR.has(member))
  if (columns === undefined || !isPlain || readText(members['relpersistence']) !== 'p') {
    throw refusedSql(
      `must read reporting tables only, without a schema: ${[...tables.keys()].join(', ')}`,
    )
  }
  return namedItem(name, columns, members['alias'])
}

function checkSubselect(
  members: Members,
  left: readonly FromItem[],
  place: Place,
  check: SqlCheck,
): FromItem {
  allowMembers('RangeSubselect', members, RANGE_SUBSELECT)
  const { kind, members: select } = readNode(members['subquery'])
  if (kind !== 'SelectStmt') throw refusedSql(`must not use ${kind} after FROM`)
  const seen = members['lateral'] === true ? within(left, place) : place
  return namedItem('', check.select(select, seen), members['alias'])
}

function checkJoin(
  members: Members,
  left: readonly FromItem[],
  place: Place,
  check: SqlCheck,
): FromItem {
  allowMembers('JoinExpr', members, JOIN)
  const first = checkItem(readDefined(members['larg']), left, place, check)
  const second = checkItem(readDefined(members['rarg']), [...left, first], place, check)
  const { quals, alias } = members
  // PostgreSQL shows the condition of a join its two sides, and not what stands beside the join.
  if (quals !== undefined) check.expression(quals, within([first, second], place))
  const columns = joinColumns(first.columns, second.columns, findMerged(members, first, second))
  if (alias !== undefined) return namedItem('', columns, alias)
  return { relations: new Map([...first.relations, ...second.relations]), columns }
}

/** The columns that both sides share: those of USING, or of a natural join. */
function findMerged(members: Members, first: FromItem, second: FromItem): Columns {
  if (members['isNatural'] === true) {
    return first.columns.filter((name) => name !== '' && second.columns.includes(name))
  }
  const merged = readWords(members['usingClause'])
  for (const name of merged) {
    if ([first, second].every(({ columns }) => columns.includes(name) || columns.includes('')))
      continue
    throw refusedSql(`names the column ${name}, which does not exist on both sides of the join`)
  }
  return merged
}

/** Merged columns come first and once. */
function joinColumns(first: Columns, second: Columns, merged: Columns): Columns {
  const isOwn = (name: string) => !merged.includes(name)
  return [...merged, ...first.filter(isOwn), ...second.filter(isOwn)]
}

/** The same place, where these items are seen too. */
export function within(items: readonly FromItem[], place: Place): Place {
  return { ...place, columns: { items, outer: place.columns } }
}

function readDefined(value: Json | undefined): Json {
  if (value === undefined) throw refusedSql('must not use this syntax')
  return value
}
