/* Writes a live query: its SQL, whom it asks, and what that costs. */
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getLiveQueryCampaignsById } from '../api/generated/sdk.gen.ts'
import { Page } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { QueryForm } from './query-form.tsx'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/live-queries' }]

export function NewQueryPage() {
  return (
    <Page title={texts.newTitle} above={ABOVE}>
      <QueryForm />
    </Page>
  )
}

export function EditQueryPage() {
  const { id } = useParams({ from: '/frame/live-queries/$id/edit' })
  const { data, error, refetch } = useQuery({
    queryKey: ['live_query_campaigns', id],
    queryFn: async ({ signal }) =>
      (await getLiveQueryCampaignsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <Page title={data === undefined ? texts.edit : texts.editTitle(data.name)} above={ABOVE}>
      {data !== undefined ? (
        <QueryForm key={id} campaign={data} />
      ) : error === null ? (
        <Skeleton height={320} />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}
