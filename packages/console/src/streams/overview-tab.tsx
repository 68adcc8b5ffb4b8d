/* How a stream is doing, and how it is set up. */
import { Alert, Button } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Stream } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { HealthOfStream } from './health-of-stream.tsx'
import { requestsChanges } from './stream-facts.ts'
import { healthQuery } from './stream-queries.ts'
import { texts } from './texts.ts'

const { page } = texts

interface OverviewTabProps {
  readonly stream: Stream
  readonly onOpen: (tab: string) => void
}

export function OverviewTab({ stream, onOpen }: OverviewTabProps) {
  const query = useQuery(healthQuery(stream.id))
  return (
    <>
      {stream.fallback === null ? null : (
        <Alert color="yellow" icon={<AlertIcon />} title={page.fallbackTitle}>
          {stream.fallback.reason} <Copyable value={stream.fallback.endpoint_url} />
        </Alert>
      )}
      <Loaded query={query} height={220}>
        {(health) => <HealthOfStream stream={stream} health={health} onOpen={onOpen} />}
      </Loaded>
      <Settings stream={stream} />
    </>
  )
}

function proofOf({ delivery, authorization_header_set: hasHeader }: Stream): string {
  if (delivery.oauth !== undefined && delivery.oauth !== null) return page.proofs.oauth
  if (hasHeader) return page.proofs.header
  if (delivery.mtls !== undefined && delivery.mtls !== null) return page.proofs.mtls
  return page.proofs.none
}

function Settings({ stream }: { readonly stream: Stream }) {
  const yesOrNo = (value: boolean) => (value ? page.yes : page.no)
  return (
    <Section
      title={page.settings}
      actions={
        <Button
          component={Link}
          to={`/signals/streams/${stream.id}/edit`}
          size="compact-sm"
          variant="default"
        >
          {texts.edit}
        </Button>
      }
    >
      <Facts
        facts={[
          [texts.deliveryType, texts.deliveryTypes[stream.delivery_type]],
          [texts.url, stream.delivery.endpoint_url || '–'],
          [texts.specVersion, texts.specVersions[stream.spec_version]],
          [
            texts.eventTypes,
            requestsChanges(stream) ? <code key="t">{texts.eventType}</code> : texts.noEvents,
          ],
          ...(stream.delivery_type === 'push' ? [[page.proof, proofOf(stream)] as const] : []),
          [texts.form.subjectForm, texts.form.subjectForms[stream.subject_form]],
          [page.damping, page.seconds(stream.damping_seconds)],
          [page.sequence, yesOrNo(stream.heliograph_sequence)],
          [page.pairwise, yesOrNo(stream.pairwise_identifiers)],
          [page.streamId, <Copyable key="sid" value={stream.stream_id} />],
          [page.id, <Copyable key="id" value={stream.id} />],
          [page.audience, <Copyable key="a" value={stream.aud} />],
          [page.issuer, <Copyable key="i" value={stream.iss} />],
          [page.created, <Time key="c" at={stream.created_at} />],
        ]}
      />
    </Section>
  )
}
