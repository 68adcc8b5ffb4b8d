import { listRouteTable, type RouteTableEntry } from './route-table.ts'
import { toDocumentPath, type Operation } from '../src/platform/http/operation.ts'

const INTRODUCTION = `# Routes and permissions

What a caller of each operation needs: a live API key, or the session of an admin
([console-sign-in.md](console-sign-in.md#what-admins-may-do)). A key reads by default, and a permission that is named here
has to be granted to it, with a rationale that goes into the audit log. A route that is public needs neither, one that says
session takes no key. A switch is a setting of the organisation (\`heliograph organisation set\`) that closes its routes:
\`api_writes\` to keys, \`ssf\` to everybody. A route without a list of versions exists in all of them.

This page is generated from the declarations of the routes.`

/** The text of `docs/permissions.md`: a line per method and path, in the order of the paths. */
export function renderPermissionReference(routes: readonly Operation[]): string {
  const rows = listRouteTable(routes.filter((route) => !route.hidden))
    .sort((left, right) => compare(sortKeyOf(left), sortKeyOf(right)))
    .map(toRow)
  return [
    INTRODUCTION,
    '',
    '| Route | What it does | Permission | Switch | Versions |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function toRow(entry: RouteTableEntry): string {
  const path = toDocumentPath(entry.path)
  const cells = [
    `\`${entry.method} ${path}\``,
    entry.summary,
    describeAccess(entry.permission),
    entry.feature === null ? '' : `\`${entry.feature}\``,
    entry.versions?.join(', ') ?? '',
  ]
  return `| ${cells.join(' | ')} |`
}

function describeAccess(permission: string | null): string {
  if (permission === null) return 'any key'
  return permission === 'public' || permission === 'session' ? permission : `**${permission}**`
}

function sortKeyOf({ path, method }: RouteTableEntry): string {
  return `${path} ${method}`
}

/** By code unit, not by locale: the same order on every machine. */
function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}
