import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getAdminUsers } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { PAGE_SIZE } from '../kit/list-page.ts'
import { nameOf } from './admin-state.tsx'
import { texts } from './texts.ts'

interface KeysToSelectProps {
  /** Whose API keys they are. */
  readonly admin: AdminUser
  /** The id of who answers for them from now on; null when they end. */
  readonly value: string | null
  readonly onChange: (id: string | null) => void
}

/** Asks who takes the API keys of an admin over. */
export function KeysToSelect({ admin, value, onChange }: KeysToSelectProps) {
  const { data = [] } = useQuery({
    queryKey: ['admin_users', 'successors'],
    queryFn: ({ signal }) => readSuccessors(signal),
  })
  return (
    <Select
      label={texts.keysTo}
      placeholder={texts.nobody}
      clearable
      searchable
      data={data
        .filter(({ id }) => id !== admin.id)
        .map((each) => ({ value: each.id, label: `${nameOf(each)} (${each.email})` }))}
      value={value}
      onChange={onChange}
    />
  )
}

/** Every admin who can answer for API keys. */
async function readSuccessors(signal: AbortSignal): Promise<AdminUser[]> {
  const found: AdminUser[] = []
  let cursor: string | undefined
  do {
    const query = { per_page: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }
    const { data: page } = await getAdminUsers({ query, signal, throwOnError: true })
    found.push(
      ...page.data.filter(
        ({ access, deactivated_at: deactivatedAt }) => access === 'full' && deactivatedAt === null,
      ),
    )
    cursor = page.pagination.next_cursor === '' ? undefined : page.pagination.next_cursor
  } while (cursor !== undefined)
  return found
}
