/* What each check last said of a device, with the rows that it judged. */
import { Button, Collapse, Skeleton, Text, UnstyledButton } from '@mantine/core'
import { ChecklistIcon, ChevronDownIcon, ChevronRightIcon, SyncIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import {
  getDevicesByIdCheckResults,
  postDevicesByIdCheckRefreshes,
} from '../api/generated/sdk.gen.ts'
import type { CheckResult, Device } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { QuickFilters, type QuickFilter } from '../kit/quick-filters.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { RowsTable } from '../kit/rows-table.tsx'
import { EmptyState, ErrorState, StaleList } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import classes from './device-page.module.css'
import { texts } from './texts.ts'

const TONES: Readonly<Record<CheckResult['status'], Tone>> = {
  passing: 'good',
  failing: 'bad',
  errored: 'warn',
  unknown: 'unknown',
  inapplicable: 'unknown',
  stale: 'unknown',
  pending: 'unknown',
  out_of_scope: 'unknown',
}

const FILTERS: readonly QuickFilter[] = (['failing', 'passing', 'errored', 'stale'] as const).map(
  (status) => ({ group: 'status', label: texts.statuses[status], clause: `status:${status}` }),
)

export function DeviceChecks({ device }: { readonly device: Device }) {
  const { id } = device
  const { query = '' } = useSearch({ from: '/frame/devices/$id' })
  const navigate = useNavigate()
  const list = useList(
    ['devices', id, 'check-results'],
    (page) => getDevicesByIdCheckResults({ ...page, path: { id } }),
    query,
  )
  const refresh = useRefresh(id)
  const search = (next: string) =>
    void navigate({
      to: '/devices/$id',
      params: { id },
      search: { tab: 'checks', ...(next === '' ? {} : { query: next }) },
      replace: true,
    })
  return (
    <Section
      title={texts.checks}
      lead={texts.checksLead}
      isFlush
      actions={
        <RefreshButton
          label={texts.refreshAll}
          isPending={refresh.isPending}
          onClick={() => refresh.mutate(undefined)}
        />
      }
    >
      <div className={classes.filters}>
        <QuickFilters filters={FILTERS} value={query} onChange={search} />
      </div>
      <StaleList list={list} />
      {list.error !== null && list.items.length === 0 ? (
        <ErrorState error={list.error} onRetry={list.retry} />
      ) : list.isLoading ? (
        <Skeleton height={160} m="md" />
      ) : list.items.length === 0 ? (
        <EmptyState icon={ChecklistIcon} title={texts.noResults}>
          {texts.noResultsHelp}
        </EmptyState>
      ) : (
        [...list.items].sort(worstFirst).map((result) => <Result key={result.id} result={result} />)
      )}
      {list.hasMore ? (
        <Button variant="subtle" m="xs" onClick={list.loadMore} loading={list.isLoadingMore}>
          {texts.showMore}
        </Button>
      ) : null}
    </Section>
  )
}

/** Asks the device to run one check, or all of them. */
function useRefresh(deviceId: string) {
  return useAction({
    run: (checkId: string | undefined) =>
      postDevicesByIdCheckRefreshes({
        path: { id: deviceId },
        body: checkId === undefined ? {} : { check_id: checkId },
        throwOnError: true,
      }),
    done: texts.refreshed,
    changes: [['devices', deviceId]],
  })
}

interface RefreshButtonProps {
  readonly label: string
  readonly isPending: boolean
  readonly onClick: () => void
}

function RefreshButton({ label, isPending, onClick }: RefreshButtonProps) {
  const may = useMay('Refresh Check')
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<SyncIcon size={13} />}
      disabled={!may}
      title={may ? undefined : texts.noPermission('Refresh Check')}
      loading={isPending}
      onClick={onClick}
    >
      {label}
    </Button>
  )
}

/** Failing checks begin open, since whoever looks wants to see why. */
function Result({ result }: { readonly result: CheckResult }) {
  const [isOpen, setOpen] = useState(result.status === 'failing' || result.status === 'errored')
  const refresh = useRefresh(result.device_id)
  const rows = result.check_result_data
  const Chevron = isOpen ? ChevronDownIcon : ChevronRightIcon
  return (
    <div className={classes.result}>
      <UnstyledButton
        className={classes.resultHead}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Chevron size={14} />
        <span className={classes.resultName}>{result.check_name}</span>
        <StateBadge tone={TONES[result.status]} isPlain>
          {texts.statuses[result.status]}
        </StateBadge>
        <span className={classes.resultTime}>
          <Time at={result.ran_at} />
        </span>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <div className={classes.resultBody}>
          {result.exemption_reason === null ? null : (
            <Text size="sm" mb="xs">
              {texts.exempted}: {result.exemption_reason}
            </Text>
          )}
          <div className={classes.resultBar}>
            <Text size="sm" c="dimmed">
              {rows.length === 0 ? texts.noRows : texts.rowsThatFailed(rows.length)}
              {' · '}
              <RecordLink kind="check" id={result.check_id}>
                {texts.openCheck}
              </RecordLink>
            </Text>
            <RefreshButton
              label={texts.refresh}
              isPending={refresh.isPending}
              onClick={() => refresh.mutate(result.check_id)}
            />
          </div>
          {rows.length === 0 ? null : (
            <div className={classes.well}>
              <RowsTable name={result.check_name} rows={rows} />
            </div>
          )}
        </div>
      </Collapse>
    </div>
  )
}

const ORDER = Object.keys({
  failing: 0,
  errored: 0,
  stale: 0,
  pending: 0,
  unknown: 0,
  passing: 0,
  inapplicable: 0,
  out_of_scope: 0,
} satisfies Record<CheckResult['status'], 0>)

function worstFirst(a: CheckResult, b: CheckResult): number {
  return ORDER.indexOf(a.status) - ORDER.indexOf(b.status)
}
