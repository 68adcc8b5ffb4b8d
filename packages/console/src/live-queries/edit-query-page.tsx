/* Writes a live query: its SQL, whom it asks, and what that costs. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getLiveQueryCampaignsById } from '../api/generated/sdk.gen.ts'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { Needs } from '../shell/needs.tsx'
import { QueryForm } from './query-form.tsx'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/live-queries' }]

export function NewQueryPage() {
  return (
    <Page title={texts.newTitle} above={ABOVE}>
      <Needs permission="Create Live Query" />
      <QueryForm />
    </Page>
  )
}

export function EditQueryPage() {
  const { id } = useParams({ from: '/frame/live-queries/$id/edit' })
  const query = useQuery({
    queryKey: ['live_query_campaigns', id],
    queryFn: async ({ signal }) =>
      (await getLiveQueryCampaignsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <LoadedPage query={query} title={texts.edit} above={ABOVE}>
      {(campaign) => (
        <Page title={texts.editTitle(campaign.name)} above={ABOVE}>
          <Needs permission="Create Live Query" />
          <QueryForm key={id} campaign={campaign} />
        </Page>
      )}
    </LoadedPage>
  )
}
