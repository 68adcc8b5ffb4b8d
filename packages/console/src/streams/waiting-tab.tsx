/* The events that wait for the receiver, as it will get them. */
import { Skeleton, Text } from '@mantine/core'
import { InboxIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { getSsfStreamsByIdEvents } from '../api/generated/sdk.gen.ts'
import { SetView } from '../deliveries/set-view.tsx'
import { Section } from '../kit/page.tsx'
import { EmptyState, ErrorState } from '../kit/states.tsx'
import { tabTexts } from './tab-texts.ts'

const { waitingTab: words } = tabTexts

export function WaitingTab({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['ssf_streams', id, 'waiting'],
    queryFn: async ({ signal }) =>
      (await getSsfStreamsByIdEvents({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: 15_000,
  })
  if (error !== null && data === undefined) {
    return <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data === undefined) return <Skeleton height={260} />
  const sets = Object.entries(data.sets)
  if (sets.length === 0) {
    return (
      <Section title={words.title} lead={words.lead}>
        <EmptyState icon={InboxIcon} title={words.none}>
          {words.noneHelp}
        </EmptyState>
      </Section>
    )
  }
  return (
    <>
      <Text size="sm" c="dimmed">
        {words.lead} {data.moreAvailable === true ? words.more : ''}
      </Text>
      {sets.map(([jti, token]) => (
        <Section key={jti} title={jti}>
          <SetView token={token} />
        </Section>
      ))}
    </>
  )
}
