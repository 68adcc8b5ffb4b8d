/* One live query: how far it has come, and the rows as they come in. */
import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { getLiveQueryCampaignsById } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { AnswerRows } from './answer-rows.tsx'
import { CampaignActions } from './campaign-actions.tsx'
import { CampaignState, countAnswered, countAsked } from './campaign-state.tsx'
import { Progress } from './progress.tsx'
import { QueryDevices } from './query-devices.tsx'
import type { LiveQueryTab } from './routes.ts'
import { texts } from './texts.ts'

/** While answers are awaited, beside what the live connection tells. */
const WATCH_MS = 2_000

const ABOVE = [{ label: texts.above, to: '/live-queries' }]

export function LiveQueryPage() {
  const { id } = useParams({ from: '/frame/live-queries/$id' })
  const query = useQuery({
    queryKey: ['live_query_campaigns', id],
    queryFn: async ({ signal }) =>
      (await getLiveQueryCampaignsById({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: ({ state }) => (isAwaited(state.data) ? WATCH_MS : false),
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(campaign) => <Campaign campaign={campaign} />}
    </LoadedPage>
  )
}

function isAwaited(campaign: LiveQueryCampaign | undefined): boolean {
  return campaign?.published === true && campaign.waiting_devices_count > 0
}

function Campaign({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const { id } = campaign
  const { tab = 'rows' } = useSearch({ from: '/frame/live-queries/$id' })
  const navigate = useNavigate()
  const open = (next: string | null) =>
    void navigate({
      to: '/live-queries/$id',
      params: { id },
      search: next === null || next === 'rows' ? {} : { tab: next as LiveQueryTab },
      replace: true,
    })
  return (
    <Page
      title={campaign.name}
      above={ABOVE}
      badge={<CampaignState campaign={campaign} isPlain={false} />}
      lead={sentenceOf(campaign)}
      actions={<CampaignActions campaign={campaign} />}
    >
      <Progress campaign={campaign} />
      <Tabs value={tab} onChange={open} keepMounted={false}>
        <Tabs.List>
          {Object.entries(texts.tabs).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rows" pt="md">
          <AnswerRows key={campaign.revision} campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="devices" pt="md">
          <QueryDevices campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="query" pt="md">
          <Definition campaign={campaign} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function sentenceOf(campaign: LiveQueryCampaign): string {
  if (campaign.asked_at === null) return texts.sentenceDraft
  const figures = [countAnswered(campaign), countAsked(campaign)] as const
  return campaign.published ? texts.sentence(...figures) : texts.sentenceStopped(...figures)
}

function Definition({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const targets = [
    campaign.target_all_devices ? texts.all : '',
    campaign.target_macs ? texts.macs : '',
    campaign.target_windows_devices ? texts.windows : '',
    campaign.target_linux_devices ? texts.linux : '',
    campaign.targeted_device_ids.length > 0
      ? texts.estimateOf(campaign.targeted_device_ids.length)
      : '',
  ].filter((part) => part !== '')
  return (
    <Section title={texts.sql}>
      <CodeBlock name={texts.sql} value={campaign.osquery_sql} />
      <div style={{ marginTop: '1rem' }}>
        <Facts
          facts={[
            [texts.platformsOf, targets.join(', ')],
            [texts.tablesUsed, campaign.tables_used.join(', ')],
            [texts.asked, <Time at={campaign.asked_at} />],
            [texts.created, <Time at={campaign.created_at} />],
            [texts.revision, String(campaign.revision)],
            ...campaign.warnings.map(
              ({ platform, message }) => [platform, message] as readonly [string, string],
            ),
          ]}
        />
      </div>
    </Section>
  )
}
