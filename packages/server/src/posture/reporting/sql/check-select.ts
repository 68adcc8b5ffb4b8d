/*
 * Checks one SELECT with its common table expressions, set operations and clauses, and answers the names
 * of its output columns.
 */
import { checkFrom, within } from './check-from.ts'
import {
  findRelation,
  renameColumns,
  type Columns,
  type FromItem,
  type Place,
} from './name-scope.ts'
import { nameOutput } from './output-name.ts'
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

/** `intoClause` and `lockingClause` are not among them. */
const SELECT = new Set([
  'all',
  'distinctClause',
  'fromClause',
  'groupClause',
  'groupDistinct',
  'havingClause',
  'larg',
  'limitCount',
  'limitOffset',
  'limitOption',
  'op',
  'rarg',
  'sortClause',
  'targetList',
  'valuesLists',
  'whereClause',
  'windowClause',
  'withClause',
])
const COMMON_TABLE = new Set([
  'ctename',
  'aliascolnames',
  'ctematerialized',
  'ctequery',
  'location',
])
const TARGET = new Set(['name', 'val', 'location'])

/**
 * Checks a SELECT at a place, whose columns are those of the queries around it.
 *
 * @throws AppError `invalid_body`
 */
export function checkSelect(members: Members, outside: Place, check: SqlCheck): Columns {
  allowMembers('SELECT', members, SELECT)
  const place = withCommonTables(members['withClause'], enter(outside), check)
  const { columns, seen } = checkBody(members, place, check)
  checkEach(members['sortClause'], withOutputs(seen, columns), check)
  for (const limit of [members['limitCount'], members['limitOffset']]) {
    if (limit !== undefined) check.expression(limit, seen)
  }
  return columns
}

/** What a SELECT answers, and what its last clauses see. */
interface Body {
  readonly columns: Columns
  readonly seen: Place
}

function checkBody(members: Members, place: Place, check: SqlCheck): Body {
  if (members['larg'] !== undefined || members['rarg'] !== undefined) {
    const columns = check.select(readMembers(members['larg']), place)
    check.select(readMembers(members['rarg']), place)
    return { columns, seen: within([], place) }
  }
  if (members['valuesLists'] !== undefined) return checkValues(members['valuesLists'], place, check)
  return checkPlainSelect(members, place, check)
}

function checkPlainSelect(members: Members, place: Place, check: SqlCheck): Body {
  const items = checkFrom(members['fromClause'], place, check)
  const seen = within(items, place)
  const columns = readList(members['targetList']).flatMap((target) =>
    checkTarget(target, items, seen, check),
  )
  for (const condition of [members['whereClause'], members['havingClause']]) {
    if (condition !== undefined) check.expression(condition, seen)
  }
  const grouped = withOutputs(seen, columns)
  checkEach(members['groupClause'], grouped, check)
  checkEach(members['windowClause'], grouped, check)
  // DISTINCT alone is a list of one empty item.
  const distinct = readList(members['distinctClause']).filter(
    (item) => Object.keys(readMembers(item)).length > 0,
  )
  checkEach(distinct, grouped, check)
  return { columns, seen }
}

function checkValues(value: Json, place: Place, check: SqlCheck): Body {
  const lists = readList(value)
  checkEach(lists, place, check)
  const width = lists[0] === undefined ? 0 : readList(readNode(lists[0]).members['items']).length
  const columns = Array.from({ length: width }, (_, index) => `column${index + 1}`)
  return { columns, seen: within([], place) }
}

function checkEach(value: Json | readonly Json[] | undefined, place: Place, check: SqlCheck): void {
  for (const item of readList(value as Json | undefined)) check.expression(item, place)
}

/** ORDER BY, GROUP BY and DISTINCT ON may name output columns. */
function withOutputs(place: Place, outputs: Columns): Place {
  const { columns } = place
  return columns === undefined ? place : { ...place, columns: { ...columns, outputs } }
}

/** The output columns of an item of the SELECT list: one, or what a star stands for. */
function checkTarget(
  value: Json,
  items: readonly FromItem[],
  place: Place,
  check: SqlCheck,
): Columns {
  const { kind, members } = readNode(value)
  const expression = members['val']
  if (kind !== 'ResTarget' || expression === undefined) throw refusedSql(`must not use ${kind}`)
  allowMembers(kind, members, TARGET)
  const star = findStar(expression)
  if (star === undefined) {
    check.expression(expression, place)
    return [readText(members['name']) || nameOutput(expression)]
  }
  if (star === '') return items.flatMap(({ columns }) => columns)
  const columns = findRelation(place.columns, star)
  if (columns === undefined) throw refusedSql(`names ${star}.*, which is no relation here`)
  return columns
}

/** The relation of `relation.*`, an empty text for `*`; undefined for every other expression. */
function findStar(value: Json): string | undefined {
  const { kind, members } = readNode(value)
  if (kind !== 'ColumnRef') return undefined
  const fields = readList(members['fields']).map((field) => readNode(field))
  if (fields.at(-1)?.kind !== 'A_Star') return undefined
  if (fields.length === 1) return ''
  const [relation] = fields
  if (fields.length === 2 && relation?.kind === 'String') {
    return readText(relation.members['sval'])
  }
  throw refusedSql('must write relation.*, without a schema')
}

/**
 * The place within a WITH clause: each of its names stands for its query in those that follow and below,
 * and nowhere else.
 */
function withCommonTables(value: Json | undefined, outside: Place, check: SqlCheck): Place {
  if (value === undefined) return outside
  const clause = readMembers(value)
  if (clause['recursive'] === true) throw refusedSql('must not use WITH RECURSIVE')
  let place = outside
  for (const item of readList(clause['ctes'])) {
    const { kind, members } = readNode(item)
    if (kind !== 'CommonTableExpr') throw refusedSql(`must not use ${kind}`)
    allowMembers(kind, members, COMMON_TABLE)
    const query = readNode(members['ctequery'])
    if (query.kind !== 'SelectStmt') throw refusedSql('must not write')
    const columns = check.select(query.members, place)
    const named = renameColumns(columns, readWords(members['aliascolnames']))
    place = {
      ...place,
      tables: new Map([...place.tables, [readText(members['ctename']), named]]),
    }
  }
  return place
}
