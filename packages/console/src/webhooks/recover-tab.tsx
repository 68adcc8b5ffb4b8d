/* Sends a webhook what it has not got of a time, after a preview. */
import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { postWebhooksByIdRecover } from '../api/generated/sdk.gen.ts'
import type { RecoveredWebhook } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'

const { recoverTab: words } = texts

export function RecoverTab({ id }: { readonly id: string }) {
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const may = useMay(WEBHOOKS_PERMISSION)
  const recover = useAction({
    run: async (isPreview: boolean) => {
      const body = {
        since: new Date(since).toISOString(),
        ...(until === '' ? {} : { until: new Date(until).toISOString() }),
        dry_run: isPreview,
      }
      return (await postWebhooksByIdRecover({ path: { id }, body, throwOnError: true })).data
    },
    changes: [['webhooks', id], ['deliveries']],
    showsFailure: true,
  })
  const { data } = recover
  return (
    <Section title={words.title} lead={words.lead}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          recover.mutate(true)
        }}
      >
        <Stack maw={620}>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              label={words.since}
              description={' '}
              type="datetime-local"
              value={since}
              onChange={(event) => {
                setSince(event.currentTarget.value)
                recover.reset()
              }}
              required
            />
            <TextInput
              label={words.until}
              description={words.untilHelp}
              type="datetime-local"
              value={until}
              onChange={(event) => {
                setUntil(event.currentTarget.value)
                recover.reset()
              }}
            />
          </SimpleGrid>
          <Fault error={recover.error} />
          {data === undefined ? null : (
            <Text size="sm" role="status">
              {told(data)}
            </Text>
          )}
          <Group gap="xs">
            <Button
              type="submit"
              variant="default"
              disabled={!may || since === ''}
              loading={recover.isPending}
            >
              {words.preview}
            </Button>
            {data !== undefined && data.dry_run && data.count > 0 ? (
              <Button loading={recover.isPending} onClick={() => recover.mutate(false)}>
                {words.recover}
              </Button>
            ) : null}
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function told(outcome: RecoveredWebhook): string {
  if (outcome.count === 0) return words.nothing
  if (outcome.dry_run) return words.previewed(outcome.failed_count, outcome.missed_count)
  const sent = words.recovered(outcome.count)
  return outcome.has_more ? `${sent} ${words.again}` : sent
}
