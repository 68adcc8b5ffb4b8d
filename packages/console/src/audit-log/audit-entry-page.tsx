/* One entry of the audit log: who did what to what, the values before and after, and the proof of the chain. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getAuditLogsById, getAuditLogsByIdChanges } from '../api/generated/sdk.gen.ts'
import type { AuditLog, AuditLogChanges } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import classes from './audit-log.module.css'
import { EntryProof } from './entry-proof.tsx'
import { texts } from './texts.ts'

export function AuditEntryPage() {
  const { id } = useParams({ from: '/frame/audit-log/$id' })
  const query = useQuery({
    queryKey: ['audit_logs', id],
    queryFn: async ({ signal }) =>
      (await getAuditLogsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <Loaded query={query}>
      {(entry) => (
        <Page title={entry.description} above={[{ label: texts.title, to: '/audit-log' }]}>
          <Section title={texts.circumstances}>
            <Facts facts={factsOf(entry)} />
          </Section>
          <Changes id={id} />
          <EntryProof id={id} />
        </Page>
      )}
    </Loaded>
  )
}

function factsOf(entry: AuditLog) {
  const { actor_name: name, actor_email: email, actor_type: type } = entry.actor_info
  return [
    [texts.who, `${name} · ${texts.kinds[type]}${email === null ? '' : ` · ${email}`}`],
    [texts.at, <Time key="at" at={entry.timestamp} isExact />],
    [texts.action, <code key="action">{entry.action}</code>],
    [texts.target, <Target key="target" target={entry.target} />],
    ['Id', <Copyable key="id" value={entry.id} />],
  ] as const
}

/** The types of targets whose records have a page. */
const LINKED = ['check', 'device', 'issue', 'person'] as const

function Target({ target }: Pick<AuditLog, 'target'>) {
  if (target === null) return '–'
  const words = `${target.type} ${target.identifier}`
  const kind = LINKED.find((each) => each === target.type)
  if (kind === undefined) return words
  return (
    <RecordLink kind={kind} id={target.identifier}>
      {words}
    </RecordLink>
  )
}

function Changes({ id }: { readonly id: string }) {
  const may = useMay('Manage Admins')
  const query = useQuery({
    queryKey: ['audit_logs', id, 'changes'],
    queryFn: async ({ signal }) =>
      (await getAuditLogsByIdChanges({ path: { id }, signal, throwOnError: true })).data,
    enabled: may,
  })
  if (!may) return <Section title={texts.changes}>{texts.mayNot}</Section>
  return (
    <Loaded query={query} height={120}>
      {(changes) => <ChangeTable changes={changes} />}
    </Loaded>
  )
}

function ChangeTable({ changes: { before, after } }: { readonly changes: AuditLogChanges }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return (
    <Section
      title={texts.changes}
      lead={names.length === 0 ? texts.noChanges : texts.changesLead}
      isFlush
    >
      {names.length === 0 ? null : (
        <table className={classes.changes} aria-label={texts.changes}>
          <thead>
            <tr>
              <th scope="col">{texts.member}</th>
              <th scope="col">{texts.before}</th>
              <th scope="col">{texts.after}</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <ChangeRow key={name} name={name} before={before?.[name]} after={after?.[name]} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

interface ChangeRowProps {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

function ChangeRow({ name, before, after }: ChangeRowProps) {
  const isSame = JSON.stringify(before) === JSON.stringify(after)
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{before === undefined ? null : isSame ? show(before) : <del>{show(before)}</del>}</td>
      <td>{after === undefined ? null : isSame ? show(after) : <ins>{show(after)}</ins>}</td>
    </tr>
  )
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1)
}
