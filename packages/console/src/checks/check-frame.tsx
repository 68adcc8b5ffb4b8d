/* What the pages of a check have in common: its name, its state and its tabs. */
import { Anchor, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { getChecksById } from '../api/generated/sdk.gen.ts'
import type { Check } from '../api/generated/types.gen.ts'
import { ListLink } from '../kit/list-link.tsx'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { StrategyBadge } from './strategy-badge.tsx'
import { texts } from './texts.ts'

type Tab = keyof typeof texts.tabs

interface CheckFrameProps {
  readonly id: string
  readonly tab: Tab
  readonly isFilling?: boolean
  readonly children: (check: Check) => ReactNode
}

export function CheckFrame(props: CheckFrameProps) {
  const { id } = props
  const query = useQuery({
    queryKey: ['checks', id],
    queryFn: async ({ signal }) =>
      (await getChecksById({ path: { id }, signal, throwOnError: true })).data,
  })
  return <Loaded query={query}>{(check) => <Frame {...props} check={check} />}</Loaded>
}

interface FrameProps extends CheckFrameProps {
  readonly check: Check
}

function Frame({ check, id, tab, isFilling = false, children }: FrameProps) {
  const navigate = useNavigate()
  return (
    <Page
      title={check.name}
      above={[{ label: texts.title, to: '/checks' }]}
      badge={
        check.paused ? (
          <StateBadge tone="unknown">{texts.paused}</StateBadge>
        ) : (
          <StrategyBadge strategy={check.remediation_strategy} />
        )
      }
      lead={`${check.description} ${texts.leadPassing(check.percent_passing)}`}
      actions={
        <Anchor component="span" size="sm">
          <ListLink to="/audit-log" query={`description~"${check.name.replaceAll('"', '')}"`}>
            {texts.history}
          </ListLink>
        </Anchor>
      }
      isFilling={isFilling}
    >
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: next === 'about' ? `/checks/${id}` : `/checks/${id}/${next}` })
        }
      >
        <Tabs.List>
          {(Object.keys(texts.tabs) as Tab[]).map((each) => (
            <Tabs.Tab key={each} value={each}>
              {texts.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {children(check)}
    </Page>
  )
}
