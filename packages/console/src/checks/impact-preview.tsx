import { Loader } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { ArrowRightIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { postChecksByIdConfigurationsPreview } from '../api/generated/sdk.gen.ts'
import type { CheckConfigurationPreview } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { ListLink } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import classes from './checks.module.css'
import { texts } from './texts.ts'
import type { Wanted } from './wanted-configuration.ts'

const PAUSE_MS = 300

interface Impact extends Pick<
  UseQueryResult<CheckConfigurationPreview>,
  'data' | 'error' | 'isFetching'
> {
  /** It is of these very changes, or cannot be counted; before, it may be of those before them. */
  readonly isDecided: boolean
}

/** What these changes would do, counted anew shortly after the last of them. */
export function useImpact(checkId: string, changes: Partial<Wanted>, isWanted: boolean): Impact {
  const wanted = JSON.stringify(changes)
  const [settled] = useDebouncedValue(wanted, PAUSE_MS)
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['checks', checkId, 'preview', settled],
    queryFn: async ({ signal }) => {
      const { data } = await postChecksByIdConfigurationsPreview({
        path: { id: checkId },
        body: JSON.parse(settled) as Partial<Wanted>,
        signal,
        throwOnError: true,
      })
      return data
    },
    enabled: isWanted && settled !== '{}',
    placeholderData: keepPreviousData,
  })
  const isCounted = error !== null || (data !== undefined && !isPlaceholderData)
  return { data, error, isFetching, isDecided: settled === wanted && isCounted }
}

interface ImpactPreviewProps {
  readonly impact: Impact
  readonly isChanged: boolean
}

/** Who would move from which status to which, before anything is saved. */
export function ImpactPreview({ impact, isChanged }: ImpactPreviewProps) {
  const { data, error, isFetching } = impact
  if (!isChanged) return <Section title={texts.preview}>{texts.previewNone}</Section>
  if (error !== null) {
    return (
      <Section title={texts.preview}>
        <ErrorState error={error} />
      </Section>
    )
  }
  if (data === undefined) {
    return (
      <Section title={texts.preview} lead={texts.previewing}>
        <Loader size="sm" />
      </Section>
    )
  }
  return (
    <Section
      title={texts.preview}
      lead={data.moving_count === 0 ? texts.nobodyMoves : texts.moves(data.moving_count)}
      actions={isFetching ? <Loader size={14} aria-label={texts.previewing} /> : undefined}
    >
      <div className={classes.stack} aria-live="polite">
        <Scope preview={data} />
        <Stages stages={data.stages} />
        {data.transitions.length === 0 ? null : (
          <ul className={classes.moves}>
            {data.transitions.map(({ from, to, device_count: count }) => (
              <li key={`${from}${to}`} className={classes.move}>
                <b>{texts.devices(count)}</b>
                <DeviceState state={from} />
                <ArrowRightIcon size={14} />
                <DeviceState state={to} />
              </li>
            ))}
          </ul>
        )}
        <Groups groups={data.by_group} />
        <Moves moves={data.moves} />
      </div>
    </Section>
  )
}

function Scope({ preview }: { readonly preview: CheckConfigurationPreview }) {
  const { newly_checked_count: gained, no_longer_checked_count: lost } = preview
  return (
    <>
      {gained === 0 ? null : <p className={classes.text}>{texts.newlyChecked(gained)}</p>}
      {lost === 0 ? null : <p className={classes.text}>{texts.noLonger(lost)}</p>}
    </>
  )
}

function Stages({ stages }: { readonly stages: CheckConfigurationPreview['stages'] }) {
  return (
    <table className={classes.figures}>
      <thead>
        <tr>
          <th scope="col">{texts.stage}</th>
          <th scope="col">{texts.now}</th>
          <th scope="col">{texts.then}</th>
        </tr>
      </thead>
      <tbody>
        {stages.map(({ stage, current, proposed, difference }) => (
          <tr key={stage}>
            <th scope="row">{texts.stages[stage]}</th>
            <td>{formatCount(current)}</td>
            <td>
              {difference === 0 ? (
                formatCount(proposed)
              ) : (
                <b>
                  {formatCount(proposed)} ({difference > 0 ? '+' : '−'}
                  {formatCount(Math.abs(difference))})
                </b>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Groups({ groups }: { readonly groups: CheckConfigurationPreview['by_group'] }) {
  if (groups.length === 0) return null
  return (
    <MoveList title={texts.byGroup}>
      {groups.flatMap(({ device_group_id: id, device_group_name: name, transitions }) =>
        transitions.map(({ from, to, device_count: count }) => (
          <li key={`${id}${from}${to}`} className={classes.move}>
            <ListLink to={`/groups/${id}`}>{name}</ListLink>
            <b>{texts.devices(count)}</b>
            <Change from={from} to={to} />
          </li>
        )),
      )}
    </MoveList>
  )
}

function Moves({ moves }: { readonly moves: CheckConfigurationPreview['moves'] }) {
  if (moves.length === 0) return null
  return (
    <MoveList title={texts.who}>
      {moves.map(({ device_id: id, device_name: name, from, to }) => (
        <li key={id} className={classes.move}>
          <ListLink to={`/devices/${id}`}>{name}</ListLink>
          <Change from={from.auth_state} to={to.auth_state} />
          {to.will_block_at === null ? null : (
            <span>
              {texts.when} <Time at={to.will_block_at} />
            </span>
          )}
        </li>
      ))}
    </MoveList>
  )
}

function MoveList({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={classes.texts}>
      <div>
        <h3>{title}</h3>
        <ul className={classes.moves}>{children}</ul>
      </div>
    </div>
  )
}

function Change({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <>
      <DeviceState state={from} />
      <ArrowRightIcon size={14} />
      <DeviceState state={to} />
    </>
  )
}
