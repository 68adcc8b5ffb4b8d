/* What a key asked for: what it used its permissions for, and what it was refused for want of one. */
import { useQuery } from '@tanstack/react-query'
import { getApiKeysByIdRefusals } from '../api/generated/sdk.gen.ts'
import type { ApiKey, ApiKeyPermissionUse } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { Section } from '../kit/page.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<ApiKeyPermissionUse>[] = [
  {
    id: 'permission',
    header: texts.permission,
    narrow: true,
    cell: ({ permission }) => permission,
  },
  {
    id: 'held',
    header: texts.held,
    cell: ({ is_held: isHeld }) => (
      <StateBadge tone={isHeld ? 'good' : 'unknown'} isPlain>
        {isHeld ? texts.isHeld : texts.isNotHeld}
      </StateBadge>
    ),
  },
  {
    id: 'refused',
    header: texts.refused,
    narrow: true,
    cell: ({ refused_count: count }) => formatCount(count),
  },
  {
    id: 'last-refused',
    header: texts.lastRefused,
    cell: ({ last_refused_at: at }) => <Time at={at} />,
  },
  {
    id: 'operation',
    header: texts.refusedOperation,
    cell: ({ last_refused_operation: operation }) =>
      operation === null ? '–' : <code>{operation}</code>,
  },
  {
    id: 'allowed',
    header: texts.allowed,
    cell: ({ allowed_count: count }) => formatCount(count),
  },
  {
    id: 'last-allowed',
    header: texts.lastAllowed,
    cell: ({ last_allowed_at: at }) => <Time at={at} />,
  },
]

/** By permission, for the days that are counted. */
export function PermissionUse({ apiKey }: { readonly apiKey: ApiKey }) {
  const query = useQuery({
    queryKey: ['api_keys', apiKey.id, 'refusals'],
    queryFn: async ({ signal }) =>
      (await getApiKeysByIdRefusals({ path: { id: apiKey.id }, signal, throwOnError: true })).data,
  })
  return (
    <Section title={texts.asked} lead={texts.askedLead} isFlush>
      <ShortTable
        name={texts.asked}
        columns={COLUMNS}
        list={{
          items: query.data?.data ?? [],
          isLoading: query.isPending,
          isStale: false,
          isLoadingMore: false,
          hasMore: false,
          error: query.error,
          loadMore: () => undefined,
          look: () => undefined,
          retry: () => void query.refetch(),
        }}
        rowId={({ permission }) => permission}
        empty={texts.askedNothing}
      />
    </Section>
  )
}
