/* One issue: what it means now, how it went, and the row that the device answered. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getIssuesById } from '../api/generated/sdk.gen.ts'
import type { Issue } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { RowTable } from '../kit/row-table.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time, useNow } from '../kit/time.tsx'
import { AskExemption } from './ask-exemption.tsx'
import { IssueState, stateOf } from './issue-state.tsx'
import { texts } from './texts.ts'

const LEADS = {
  resolved: texts.resolvedLead,
  exempted: texts.exemptedLead,
  blocking: texts.blockingLead,
  will_block: texts.willBlockLead,
  open: texts.openLead,
} as const

export function IssuePage() {
  const { id } = useParams({ from: '/frame/issues/$id' })
  const query = useQuery({
    queryKey: ['issues', id],
    queryFn: async ({ signal }) =>
      (
        await getIssuesById({
          path: { id },
          query: { expand: 'device,check' },
          signal,
          throwOnError: true,
        })
      ).data,
  })
  return <Loaded query={query}>{(issue) => <IssueDetails issue={issue} />}</Loaded>
}

function IssueDetails({ issue }: { readonly issue: Issue }) {
  const { device_information: device, check_information: check } = issue
  const columns = Object.keys(issue.value)
  const now = useNow()
  return (
    <Page
      title={issue.title}
      badge={<IssueState issue={issue} isPlain={false} />}
      above={[{ label: texts.title, to: '/issues' }]}
      lead={LEADS[stateOf(issue, now)]}
      actions={<AskExemption issue={issue} />}
    >
      <Section title={texts.facts}>
        <Facts
          facts={[
            [
              texts.device,
              device.identifier === '' ? (
                '–'
              ) : (
                <ListLink to={`/devices/${device.identifier}`}>
                  {device.record?.name ?? device.identifier}
                </ListLink>
              ),
            ],
            [
              texts.check,
              <ListLink key="check" to={`/checks/${check.identifier}`}>
                {check.record?.name ?? check.identifier}
              </ListLink>,
            ],
            [texts.detected, <Time key="detected" at={issue.detected_at} isExact />],
            [texts.rechecked, <Time key="rechecked" at={issue.last_rechecked_at} />],
            [
              texts.blocks,
              <Time key="blocks" at={issue.blocks_device_at} absent={texts.never} isExact />,
            ],
            ...(issue.snoozed_until === null
              ? []
              : [
                  [texts.snoozed, <Time key="snoozed" at={issue.snoozed_until} isExact />] as const,
                ]),
            [
              texts.resolved,
              <Time key="resolved" at={issue.resolved_at} absent={texts.notYet} isExact />,
            ],
            ...(issue.issue_key === undefined
              ? []
              : [
                  [
                    `${texts.key} ${issue.issue_key}`,
                    <Copyable key="value" value={issue.issue_value ?? ''} />,
                  ] as const,
                ]),
            ['Id', <Copyable key="id" value={issue.id} />],
          ]}
        />
      </Section>
      <Section
        title={texts.data}
        lead={columns.length === 0 ? texts.noData : texts.dataLead}
        isFlush
      >
        {columns.length === 0 ? null : (
          <RowTable name={texts.data} rows={[issue.value]} first={['KOLIDE_CHECK_STATUS']} />
        )}
      </Section>
    </Page>
  )
}
