/* One event on its way to one receiver: what is sent, every attempt, why it failed and what to do. */
import { Alert, Stack, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import {
  getSsfStreamsByIdDeliveriesByEventId,
  getWebhooksByIdDeliveriesByEventId,
} from '../api/generated/sdk.gen.ts'
import type { DeliveryDetails } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { streamQuery } from '../streams/stream-queries.ts'
import { webhookQuery } from '../webhooks/webhook-queries.ts'
import { Attempts } from './attempts.tsx'
import { DeviceLink } from './device-link.tsx'
import { DeliveryActions } from './delivery-actions.tsx'
import { DeliveryState, situationOf } from './delivery-state.tsx'
import type { DeliveryOwner } from './delivery-table.tsx'
import { SetView } from './set-view.tsx'
import { shortType } from './short-type.ts'
import { texts } from './texts.ts'

const { page: words } = texts

const deliveryQuery = ({ kind, id }: DeliveryOwner, eventId: string) =>
  queryOptions({
    queryKey: ['deliveries', 'list', kind, id, eventId],
    queryFn: async ({ signal }): Promise<DeliveryDetails> => {
      const request = { path: { id, event_id: eventId }, signal, throwOnError: true } as const
      const { data } =
        kind === 'streams'
          ? await getSsfStreamsByIdDeliveriesByEventId(request)
          : await getWebhooksByIdDeliveriesByEventId(request)
      return data
    },
  })

export function DeliveryPage() {
  const { kind, ownerId, eventId } = useParams({
    from: '/frame/signals/deliveries/$kind/$ownerId/$eventId',
  })
  const owner: DeliveryOwner = { kind: kind === 'webhooks' ? 'webhooks' : 'streams', id: ownerId }
  const query = useQuery(deliveryQuery(owner, eventId))
  return (
    <Loaded query={query}>
      {(delivery) => <LoadedDelivery owner={owner} delivery={delivery} />}
    </Loaded>
  )
}

interface PartProps {
  readonly owner: DeliveryOwner
  readonly delivery: DeliveryDetails
}

function LoadedDelivery({ owner, delivery }: PartProps) {
  const isStream = owner.kind === 'streams'
  const { data: stream } = useQuery({ ...streamQuery(owner.id), enabled: isStream })
  const { data: webhook } = useQuery({ ...webhookQuery(owner.id), enabled: !isStream })
  const name = (isStream ? stream?.name : webhook?.name) ?? owner.id
  const home = isStream ? '/signals/streams' : '/signals/webhooks'
  return (
    <Page
      title={shortType(delivery.event_type)}
      badge={<DeliveryState delivery={delivery} />}
      lead={words.lead[situationOf(delivery)]}
      above={[
        { label: isStream ? texts.streams : texts.webhooks, to: home },
        { label: name, to: `${home}/${owner.id}` },
      ]}
      actions={<DeliveryActions owner={owner} delivery={delivery} />}
    >
      <WhyItFailed delivery={delivery} />
      <DeliveryFacts delivery={delivery} name={name} home={`${home}/${owner.id}`} />
      <Section title={words.attempts}>
        {delivery.attempt_log.length === 0 ? (
          <Text size="sm" c="dimmed">
            {whyUntried(delivery)}
          </Text>
        ) : (
          <Attempts attempts={delivery.attempt_log} />
        )}
      </Section>
      <Section title={words.content}>
        <Content
          delivery={delivery}
          isStream={isStream}
          expected={{
            jti: delivery.event_id,
            ...(stream === undefined ? {} : { iss: stream.iss, aud: stream.aud }),
          }}
        />
      </Section>
    </Page>
  )
}

/** Of one that no attempt is on record of: of a receiver that polls, none is. */
function whyUntried({ state, attempts }: PartProps['delivery']): string {
  if (state === 'delivered' && attempts === 0) return words.fetched
  return state === 'queued' && attempts === 0 ? words.noAttempts : words.noneOnRecord
}

/**
 * Of one that has not arrived: the cause of its last failure, and what helps; of one that was given up before it was
 * tried again, why.
 */
function WhyItFailed({ delivery }: Pick<PartProps, 'delivery'>) {
  if (delivery.state === 'delivered' || delivery.last_error === null) return null
  const last = delivery.attempt_log.at(-1)
  const isOfAttempt = last?.error === delivery.last_error
  const explained = isOfAttempt ? (last.explanation ?? undefined) : undefined
  const isGivenUp = delivery.state === 'discarded' && !isOfAttempt
  return (
    <Alert
      color={delivery.state === 'dead' ? 'red' : 'yellow'}
      icon={<AlertIcon />}
      title={isGivenUp ? words.givenUpTitle : words.failedTitle}
    >
      <Stack gap={4}>
        <Text size="sm">{explained?.cause ?? delivery.last_error}</Text>
        {explained === undefined ? null : (
          <Text size="sm">
            <strong>{words.remedy}:</strong> {explained.remedy}
          </Text>
        )}
      </Stack>
    </Alert>
  )
}

interface DeliveryFactsProps extends Pick<PartProps, 'delivery'> {
  readonly name: string
  readonly home: string
}

function DeliveryFacts({ delivery, name, home }: DeliveryFactsProps) {
  const { event_id: eventId, txn, device_id: deviceId, signing_kid: kid } = delivery
  return (
    <Section
      title={words.facts}
      actions={
        <Link to="/signals/find" search={{ query: eventId }}>
          {words.find}
        </Link>
      }
    >
      <Facts
        facts={[
          [
            texts.destination,
            <Link key="to" to={home}>
              {name}
            </Link>,
          ],
          [words.eventId, <Copyable key="e" value={eventId} />],
          [texts.eventType, delivery.event_type],
          [texts.txn, <Copyable key="t" value={txn} />],
          [texts.device, deviceId === null ? '–' : <DeviceLink key="d" id={deviceId} />],
          [texts.attempts, delivery.attempts],
          [texts.queuedAt, <Time key="q" at={delivery.created_at} isExact />],
          [texts.finishedAt, <Time key="f" at={delivery.finished_at} absent="–" isExact />],
          [texts.next, <Time key="n" at={delivery.next_attempt_at} absent="–" isExact />],
          ...(kid === null ? [] : [[words.signingKey, <Copyable key="k" value={kid} />] as const]),
        ]}
      />
    </Section>
  )
}

interface ContentProps extends Pick<PartProps, 'delivery'> {
  readonly isStream: boolean
  readonly expected: { readonly jti: string; readonly iss?: string; readonly aud?: string }
}

function Content({ delivery, isStream, expected }: ContentProps) {
  const { token, content } = delivery
  if (token !== null) return <SetView token={token} expected={expected} />
  if (content === null) return <Text size="sm">{words.contentGone}</Text>
  return (
    <Stack gap="xs">
      {isStream ? (
        <Text size="sm" c="dimmed">
          {words.notSigned}
        </Text>
      ) : null}
      <CodeBlock name={isStream ? words.claims : words.payload} value={content} />
    </Stack>
  )
}
