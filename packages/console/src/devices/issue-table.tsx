/* Open issues of a person. */
import type { Issue } from '../api/generated/types.gen.ts'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import type { List } from '../kit/use-list.ts'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Issue>[] = [
  {
    id: 'title',
    header: texts.issue,
    narrow: true,
    cell: ({ title, check_information: check }) => (
      <RecordLink kind="check" id={check.identifier}>
        {title}
      </RecordLink>
    ),
  },
  {
    id: 'since',
    header: texts.since,
    cell: ({ detected_at: at }) => <Time at={at} />,
  },
  {
    id: 'blocks',
    header: texts.blocks,
    narrow: true,
    cell: ({ exempted, blocks_device_at: at }) => <IssueEffect exempted={exempted} at={at} />,
  },
]

interface IssueTableProps {
  readonly name: string
  readonly list: List<Issue>
  readonly empty: string
}

export function IssueTable({ name, list, empty }: IssueTableProps) {
  return (
    <ShortTable name={name} columns={COLUMNS} list={list} rowId={({ id }) => id} empty={empty} />
  )
}

function IssueEffect({ exempted, at }: { readonly exempted: boolean; readonly at: string | null }) {
  if (exempted)
    return (
      <StateBadge tone="good" isPlain>
        {texts.exempted}
      </StateBadge>
    )
  if (at === null)
    return (
      <StateBadge tone="notified" isPlain>
        {texts.doesNotBlock}
      </StateBadge>
    )
  const isPast = Date.parse(at) <= Date.now()
  return (
    <StateBadge tone={isPast ? 'bad' : 'warn'} isPlain>
      <Time at={at} />
    </StateBadge>
  )
}
