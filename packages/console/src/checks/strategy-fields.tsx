import { Checkbox, Input, NumberInput, Radio, Slider, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { GroupsInput } from './groups-input.tsx'
import type { Strategy } from './strategy-badge.tsx'
import { texts } from './texts.ts'
import type { Wanted } from './wanted-configuration.ts'

interface StrategyFieldsProps {
  readonly wanted: Wanted
  readonly isDisabled: boolean
  readonly onChange: (next: Partial<Wanted>) => void
}

/** What a check does to devices that fail it, field by field. */
export function StrategyFields({ wanted, isDisabled, onChange }: StrategyFieldsProps) {
  const strategy = wanted.remediation_strategy
  const isBlocking = strategy === 'warn_then_block' || strategy === 'block_immediately'
  return (
    <>
      <Radio.Group
        label={texts.strategy}
        value={strategy}
        onChange={(next) => onChange({ remediation_strategy: next })}
      >
        <Stack gap="xs" mt="xs">
          {(Object.keys(texts.strategies) as Strategy[]).map((each) => (
            <Radio
              key={each}
              value={each}
              disabled={isDisabled}
              label={texts.strategies[each]}
              description={texts.strategyHelp[each]}
            />
          ))}
        </Stack>
      </Radio.Group>
      {strategy === 'warn_then_block' ? (
        <GraceDays
          days={wanted.block_auth_grace_period_days}
          isDisabled={isDisabled}
          onChange={(days) => onChange({ block_auth_grace_period_days: days })}
        />
      ) : null}
      {isBlocking ? (
        <TextInput
          type="date"
          label={texts.begins}
          description={texts.beginsHelp}
          disabled={isDisabled}
          max="9999-12-31"
          value={toLocalDay(wanted.begins_blocking_on)}
          onChange={({ currentTarget: { value } }) =>
            onChange({ begins_blocking_on: toBeginning(value) })
          }
        />
      ) : null}
      <Input.Wrapper
        label={texts.rollout(wanted.rollout_percent)}
        description={texts.rolloutHelp}
        labelElement="div"
      >
        <Slider
          mt="xs"
          mb="lg"
          mx="md"
          min={0}
          max={100}
          step={5}
          thumbLabel={texts.rolloutLabel}
          label={(share) => texts.percent(share)}
          marks={[0, 25, 50, 75, 100].map((value) => ({ value, label: texts.percent(value) }))}
          disabled={isDisabled}
          value={wanted.rollout_percent}
          onChange={(share) => onChange({ rollout_percent: share })}
        />
      </Input.Wrapper>
      <GroupsInput
        label={texts.targeted}
        placeholder={texts.groupsPlaceholder}
        isDisabled={isDisabled}
        value={wanted.targeted_groups}
        onChange={(groups) => onChange({ targeted_groups: groups })}
      />
      <GroupsInput
        label={texts.excluded}
        placeholder={texts.noGroups}
        isDisabled={isDisabled}
        value={wanted.excluded_groups}
        onChange={(groups) => onChange({ excluded_groups: groups })}
      />
      {isBlocking ? (
        <>
          <GroupsInput
            label={texts.allowed}
            placeholder={texts.groupsPlaceholder}
            isDisabled={isDisabled}
            value={wanted.blocking_allowed_groups}
            onChange={(groups) => onChange({ blocking_allowed_groups: groups })}
          />
          <GroupsInput
            label={texts.spared}
            placeholder={texts.noGroups}
            isDisabled={isDisabled}
            value={wanted.blocking_excluded_groups}
            onChange={(groups) => onChange({ blocking_excluded_groups: groups })}
          />
        </>
      ) : null}
      <Checkbox
        label={texts.snooze}
        disabled={isDisabled}
        checked={!wanted.snooze_disallowed}
        onChange={(event) => onChange({ snooze_disallowed: !event.currentTarget.checked })}
      />
      <Checkbox
        label={texts.exemptions}
        disabled={isDisabled}
        checked={!wanted.exemptions_disallowed}
        onChange={(event) => onChange({ exemptions_disallowed: !event.currentTarget.checked })}
      />
      <Checkbox
        label={texts.pausedLabel}
        description={texts.pausedHelp}
        disabled={isDisabled}
        checked={wanted.paused}
        onChange={(event) => onChange({ paused: event.currentTarget.checked })}
      />
    </>
  )
}

/** The day of a time where the reader is, as an input of days takes it. */
function toLocalDay(time: string | null): string {
  if (time === null) return ''
  const at = new Date(time)
  const [year, month, day] = [at.getFullYear(), at.getMonth() + 1, at.getDate()]
  const pad = (value: number, digits: number) => String(value).padStart(digits, '0')
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
}

/** When a day begins where the reader is. */
function toBeginning(day: string): string | null {
  return day === '' ? null : new Date(`${day}T00:00:00`).toISOString()
}

interface GraceDaysProps {
  readonly days: number
  readonly isDisabled: boolean
  readonly onChange: (days: number) => void
}

/** An input that is empty says nothing: the days stay, and stand there again when it is left. */
function GraceDays({ days, isDisabled, onChange }: GraceDaysProps) {
  const [isEmpty, setEmpty] = useState(false)
  return (
    <NumberInput
      label={texts.grace}
      min={0}
      max={365}
      disabled={isDisabled}
      value={isEmpty ? '' : days}
      onChange={(next) => {
        setEmpty(next === '')
        if (next !== '') onChange(Number(next))
      }}
      onBlur={() => setEmpty(false)}
    />
  )
}
