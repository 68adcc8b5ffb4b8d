/* The accounts of Entra by which people sign in, each of which can be forgotten. */
import { Stack } from '@mantine/core'
import { PersonIcon } from '@primer/octicons-react'
import { deleteSignInEntraAccountsById, getSignInEntraAccounts } from '../api/generated/sdk.gen.ts'
import type { ListedEntraAccount } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { personColumn } from '../kit/person-column.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useRowEnding } from './row-ending.tsx'
import { texts } from './texts.ts'

const { entra: words } = texts

interface EntraTableProps {
  /** Of one person only; of all when left out. */
  readonly personId?: string
}

export function EntraTable({ personId }: EntraTableProps) {
  const list = useList<ListedEntraAccount>(
    ['sign_in_entra_accounts', 'list', personId ?? ''],
    ({ query, ...options }) =>
      getSignInEntraAccounts({
        ...options,
        query: { ...query, ...(personId === undefined ? {} : { person_id: personId }) },
      }),
  )
  const ending = useRowEnding<ListedEntraAccount>({
    words,
    nameOf: ({ username, person_email: email }) => words.nameOf(username, email),
    isOver: () => false,
    run: (id) => deleteSignInEntraAccountsById({ path: { id }, throwOnError: true }),
    changes: [['sign_in_entra_accounts']],
  })
  return (
    <>
      <ShortTable
        name={words.title}
        columns={[
          ...(personId === undefined ? [personColumn(words.person)] : []),
          { ...USERNAME, narrow: personId !== undefined },
          ...COLUMNS,
          ending.column,
        ]}
        list={list}
        rowId={({ id }) => id}
        empty={
          personId === undefined ? (
            <EmptyState icon={PersonIcon} title={words.none}>
              {words.noneHelp}
            </EmptyState>
          ) : (
            words.noneHere
          )
        }
      />
      {ending.dialog}
    </>
  )
}

const USERNAME: Column<ListedEntraAccount> = {
  id: 'username',
  header: words.username,
  cell: ({ username }) => username,
}

const COLUMNS: readonly Column<ListedEntraAccount>[] = [
  {
    id: 'ids',
    header: words.ids,
    // One above the other: beside each other they leave no room for the button.
    cell: ({ object_id: object, tenant_id: tenant }) => (
      <Stack gap={0} align="flex-start">
        <Copyable value={object} />
        <Copyable value={tenant} />
      </Stack>
    ),
  },
  { id: 'seen', header: words.firstSeen, cell: ({ first_seen_at: at }) => <Time at={at} /> },
]
