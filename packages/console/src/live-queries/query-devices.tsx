/* The devices that are asked, and how far the question has come at each. */
import { Tooltip } from '@mantine/core'
import {
  BlockedIcon,
  CheckCircleFillIcon,
  ClockIcon,
  MoonIcon,
  PaperAirplaneIcon,
  XCircleFillIcon,
  type Icon,
} from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { getLiveQueryCampaignsByIdDevices } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign, LiveQueryDevice } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { QuickFilters } from '../kit/quick-filters.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { countAnswered } from './campaign-state.tsx'
import classes from './live-queries.module.css'
import { texts } from './texts.ts'

type ProgressWord = LiveQueryDevice['progress']

const LOOKS: Readonly<Record<ProgressWord, { readonly tone: Tone; readonly icon: Icon }>> = {
  queued: { tone: 'unknown', icon: ClockIcon },
  sent: { tone: 'notified', icon: PaperAirplaneIcon },
  offline: { tone: 'unknown', icon: MoonIcon },
  answered: { tone: 'good', icon: CheckCircleFillIcon },
  failed: { tone: 'bad', icon: XCircleFillIcon },
  denylisted: { tone: 'bad', icon: BlockedIcon },
}

const COLUMNS: readonly Column<LiveQueryDevice>[] = [
  {
    id: 'device',
    header: texts.device,
    narrow: true,
    cell: ({ id, device_name: name }) => (
      <RecordLink kind="device" id={id}>
        {name}
      </RecordLink>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    cell: ({ progress }) => (
      <Tooltip label={texts.progressHelp[progress]}>
        <span>
          <StateBadge {...LOOKS[progress]} isPlain>
            {texts.progress[progress]}
          </StateBadge>
        </span>
      </Tooltip>
    ),
  },
  { id: 'seen', header: texts.lastSeen, cell: ({ last_seen_at: at }) => <Time at={at} /> },
  {
    id: 'said',
    header: texts.said,
    cell: ({ error_message: message }) => <span className={classes.said}>{message}</span>,
  },
]

const STATES = ['waiting', 'successful', 'errored'] as const

const FILTERS = STATES.map((state) => ({
  group: 'state',
  label: texts.filters[state],
  clause: state,
}))

export function QueryDevices({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const { id } = campaign
  const { state } = useSearch({ from: '/frame/live-queries/$id' })
  const navigate = useNavigate()
  const list = useList<LiveQueryDevice>(
    [
      'live_query_campaigns',
      id,
      'devices',
      campaign.revision,
      countAnswered(campaign),
      state ?? '',
    ],
    ({ query, ...page }) =>
      getLiveQueryCampaignsByIdDevices({
        ...page,
        path: { id },
        query: { ...query, ...(state === undefined ? {} : { state }) },
      }),
  )
  return (
    <Section title={texts.tabs.devices} isFlush>
      <div className={classes.filters}>
        <QuickFilters
          filters={FILTERS}
          value={state ?? ''}
          onChange={(next) => {
            const chosen = STATES.find((each) => each === next)
            void navigate({
              to: '/live-queries/$id',
              params: { id },
              search: { tab: 'devices', ...(chosen === undefined ? {} : { state: chosen }) },
              replace: true,
            })
          }}
        />
      </div>
      <ShortTable
        name={texts.tabs.devices}
        columns={COLUMNS}
        list={list}
        rowId={(device) => device.id}
        empty={texts.noDevices}
      />
    </Section>
  )
}
