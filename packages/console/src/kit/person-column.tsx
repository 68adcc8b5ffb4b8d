import { RecordLink } from './record-link.tsx'
import type { Column } from './use-columns.ts'

/** Whose the item is, with a link to the person. */
export function personColumn(header: string): Column<{
  readonly person_id: string
  readonly person_email: string
}> {
  return {
    id: 'person',
    header,
    narrow: true,
    cell: ({ person_id: id, person_email: email }) => (
      <RecordLink kind="person" id={id}>
        {email}
      </RecordLink>
    ),
  }
}
