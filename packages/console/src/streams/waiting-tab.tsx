/* The events that wait for the receiver, as it will get them. */
import { Text } from '@mantine/core'
import { InboxIcon, PaperAirplaneIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { getSsfStreamsByIdEvents } from '../api/generated/sdk.gen.ts'
import type { PollResponse, Stream } from '../api/generated/types.gen.ts'
import { SetView } from '../deliveries/set-view.tsx'
import { Section } from '../kit/page.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { tabTexts } from './tab-texts.ts'

const { waitingTab: words } = tabTexts

export function WaitingTab({ stream }: { readonly stream: Stream }) {
  const { id, delivery_type: type, fallback_to_poll: mayFallBack } = stream
  if (type === 'poll' || mayFallBack) return <PolledTab id={id} />
  return (
    <Section title={words.title} lead={words.lead}>
      <EmptyState icon={PaperAirplaneIcon} title={words.pushes}>
        {words.pushesHelp}
      </EmptyState>
    </Section>
  )
}

function PolledTab({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['ssf_streams', id, 'waiting'],
    queryFn: async ({ signal }) =>
      (await getSsfStreamsByIdEvents({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: 15_000,
  })
  return (
    <Loaded query={query} height={260}>
      {(waiting) => <WaitingSets waiting={waiting} />}
    </Loaded>
  )
}

function WaitingSets({ waiting }: { readonly waiting: PollResponse }) {
  const sets = Object.entries(waiting.sets)
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
        {words.lead} {waiting.moreAvailable === true ? words.more : ''}
      </Text>
      {sets.map(([jti, token]) => (
        <Section key={jti} title={jti}>
          <SetView token={token} />
        </Section>
      ))}
    </>
  )
}
