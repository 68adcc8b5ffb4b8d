import { readList, readNode, readText, readWords, type Json } from './sql-tree.ts'

/**
 * The name that PostgreSQL gives to an output column without an alias; an empty text for one that has
 * none, or whose name needs more than a look to know.
 */
export function nameOutput(value: Json): string {
  const { kind, members } = readNode(value)
  switch (kind) {
    case 'ColumnRef': {
      const last = readList(members['fields']).at(-1)
      return last === undefined ? '' : readText(readNode(last).members['sval'])
    }
    case 'FuncCall':
      return readWords(members['funcname']).at(-1) ?? ''
    case 'TypeCast':
      return members['arg'] === undefined ? '' : nameOutput(members['arg'])
    case 'CoalesceExpr':
      return 'coalesce'
    default:
      return ''
  }
}
