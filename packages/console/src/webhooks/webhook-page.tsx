/* One webhook: how it is doing, what it was sent, its secret, and what it missed. */
import { Button, Group, Stack } from '@mantine/core'
import { PaperAirplaneIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Webhook } from '../api/generated/types.gen.ts'
import { DeliveryTable } from '../deliveries/delivery-table.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { PageTabs, type PageTab } from '../kit/page-tabs.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import { RecoverTab } from './recover-tab.tsx'
import { SecretTab } from './secret-tab.tsx'
import { SignatureTab } from './signature-tab.tsx'
import { texts } from './texts.ts'
import { useTestWebhook, WebhookMenu } from './webhook-actions.tsx'
import { WebhookEventsTab } from './webhook-events-tab.tsx'
import { webhookQuery, WEBHOOKS_PERMISSION } from './webhook-queries.ts'
import { WebhookState } from './webhook-state.tsx'

const FROM = '/frame/signals/webhooks/$webhookId'
const { page: words } = texts

export function WebhookPage() {
  const { webhookId } = useParams({ from: FROM })
  const query = useQuery(webhookQuery(webhookId))
  return <Loaded query={query}>{(webhook) => <LoadedWebhook webhook={webhook} />}</Loaded>
}

function LoadedWebhook({ webhook }: { readonly webhook: Webhook }) {
  const { id, name } = webhook
  const { tab } = useSearch({ from: FROM })
  const navigate = useNavigate()
  const may = useMay(WEBHOOKS_PERMISSION)
  const test = useTestWebhook(id)
  return (
    <Page
      title={name}
      badge={<WebhookState webhook={webhook} />}
      lead={<Lead webhook={webhook} />}
      above={[{ label: texts.title, to: '/signals/webhooks' }]}
      isFilling={tab === 'deliveries' || tab === 'events'}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<PaperAirplaneIcon />}
            disabled={!may}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            {texts.test}
          </Button>
          <WebhookMenu
            webhook={webhook}
            onDeleted={() => void navigate({ to: '/signals/webhooks' })}
          />
        </>
      }
    >
      <PageTabs
        name={words.tabsOf(name)}
        tabs={tabsOf(webhook)}
        value={tab}
        onChange={(next) =>
          void navigate({
            to: '/signals/webhooks/$webhookId',
            params: { webhookId: id },
            search: { tab: next },
          })
        }
      />
    </Page>
  )
}

function tabsOf(webhook: Webhook): readonly PageTab[] {
  const { id } = webhook
  return [
    {
      id: 'overview',
      label: texts.tabs.overview,
      render: () => <Overview webhook={webhook} />,
    },
    {
      id: 'deliveries',
      label: texts.tabs.deliveries,
      render: () => <DeliveryTable owner={{ kind: 'webhooks', id }} />,
    },
    { id: 'events', label: texts.tabs.events, render: () => <WebhookEventsTab id={id} /> },
    { id: 'secret', label: texts.tabs.secret, render: () => <SecretTab webhook={webhook} /> },
    { id: 'recover', label: texts.tabs.recover, render: () => <RecoverTab id={id} /> },
    {
      id: 'signature',
      label: texts.tabs.signature,
      render: () => <SignatureTab webhook={webhook} />,
    },
  ]
}

/** What is so, in one sentence. */
function Lead({ webhook }: { readonly webhook: Webhook }) {
  if (!webhook.enabled) {
    if (webhook.disabled_reason === null) return words.off
    return (
      <>
        {words.offBy[webhook.disabled_reason]} <Time at={webhook.disabled_at} absent="" />.
      </>
    )
  }
  if (webhook.failing_since !== null) {
    return (
      <>
        {words.failing} <Time at={webhook.failing_since} isExact />.
      </>
    )
  }
  return webhook.last_success_at === null ? words.unused : words.good
}

function Overview({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <Section title={words.facts}>
        <Facts
          facts={[
            [texts.url, webhook.url],
            [texts.form.description, webhook.description ?? '–'],
            [texts.form.signing, texts.form.signings[webhook.signing]],
            [texts.waiting, webhook.queued_count],
            [texts.dead, webhook.dead_count],
            [texts.lastSuccess, <Time key="s" at={webhook.last_success_at} />],
            [words.rate, webhook.rate_limit_per_second ?? words.noLimit],
            [
              words.headers,
              webhook.header_names.length === 0 ? words.none : webhook.header_names.join(', '),
            ],
            [words.identifier, <Copyable key="i" value={webhook.identifier} />],
            [words.created, <Time key="c" at={webhook.created_at} />],
          ]}
        />
      </Section>
      <Section title={texts.form.events} lead={texts.form.eventsLead}>
        <Stack>
          <Group gap={8}>
            {webhook.events.map((type) => (
              <code key={type}>{type}</code>
            ))}
          </Group>
        </Stack>
      </Section>
    </>
  )
}
