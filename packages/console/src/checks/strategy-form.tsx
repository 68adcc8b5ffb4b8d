import {
  Button,
  Checkbox,
  Group,
  Input,
  NumberInput,
  Radio,
  Slider,
  Stack,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { patchChecksByIdConfigurations } from '../api/generated/sdk.gen.ts'
import type { CheckConfiguration } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import classes from './checks.module.css'
import { GroupsInput } from './groups-input.tsx'
import { ImpactPreview, useImpact } from './impact-preview.tsx'
import type { Strategy } from './strategy-badge.tsx'
import { texts } from './texts.ts'

/** What the form changes of a configuration. */
export type Wanted = Pick<
  CheckConfiguration,
  | 'remediation_strategy'
  | 'rollout_percent'
  | 'block_auth_grace_period_days'
  | 'begins_blocking_on'
  | 'paused'
  | 'snooze_disallowed'
  | 'exemptions_disallowed'
  | 'targeted_groups'
  | 'excluded_groups'
  | 'blocking_allowed_groups'
  | 'blocking_excluded_groups'
>

function toWanted(saved: CheckConfiguration): Wanted {
  return {
    remediation_strategy: saved.remediation_strategy,
    rollout_percent: saved.rollout_percent,
    block_auth_grace_period_days: saved.block_auth_grace_period_days,
    begins_blocking_on: saved.begins_blocking_on,
    paused: saved.paused,
    snooze_disallowed: saved.snooze_disallowed,
    exemptions_disallowed: saved.exemptions_disallowed,
    targeted_groups: saved.targeted_groups,
    excluded_groups: saved.excluded_groups,
    blocking_allowed_groups: saved.blocking_allowed_groups,
    blocking_excluded_groups: saved.blocking_excluded_groups,
  }
}

/** The members that differ from what is saved. */
function toChanges(saved: CheckConfiguration, wanted: Wanted): Partial<Wanted> {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(saved[name as keyof Wanted]) !== JSON.stringify(value),
    ),
  )
}

interface StrategyFormProps {
  readonly checkId: string
  readonly saved: CheckConfiguration
}

export function StrategyForm({ checkId, saved }: StrategyFormProps) {
  const may = useMay('Manage Checks')
  const [wanted, setWanted] = useState(toWanted(saved))
  const [isAsking, setAsking] = useState(false)
  const changes = toChanges(saved, wanted)
  const isChanged = Object.keys(changes).length > 0
  const impact = useImpact(checkId, changes, may && isChanged)
  const set = (next: Partial<Wanted>) => setWanted({ ...wanted, ...next })
  const save = useAction({
    run: () =>
      patchChecksByIdConfigurations({ path: { id: checkId }, body: changes, throwOnError: true }),
    done: texts.saved,
    changes: [['checks'], ['overview'], ['devices'], ['issues']],
    showsFailure: true,
  })
  return (
    <div className={classes.columns}>
      <Section title={texts.change} {...(may ? {} : { lead: texts.mayNot })}>
        <Stack gap="md">
          <StrategyFields wanted={wanted} isDisabled={!may} onChange={set} />
          <Group justify="flex-end" gap="xs">
            <Button
              variant="default"
              disabled={!isChanged}
              onClick={() => setWanted(toWanted(saved))}
            >
              {texts.discard}
            </Button>
            <Button disabled={!may || !isChanged} onClick={() => setAsking(true)}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </Section>
      <ImpactPreview impact={impact} isChanged={isChanged} />
      <ConfirmDialog
        isOpen={isAsking}
        title={texts.saveTitle(impact.data?.moving_count ?? 0)}
        label={texts.save}
        isPending={save.isPending}
        error={save.error}
        onConfirm={() => save.mutate()}
        onClose={() => setAsking(false)}
      >
        {texts.saveHelp}
      </ConfirmDialog>
    </div>
  )
}

interface StrategyFieldsProps {
  readonly wanted: Wanted
  readonly isDisabled: boolean
  readonly onChange: (next: Partial<Wanted>) => void
}

function StrategyFields({ wanted, isDisabled, onChange }: StrategyFieldsProps) {
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
        <NumberInput
          label={texts.grace}
          min={0}
          max={365}
          disabled={isDisabled}
          value={wanted.block_auth_grace_period_days}
          onChange={(days) => onChange({ block_auth_grace_period_days: Number(days) })}
        />
      ) : null}
      {isBlocking ? (
        <TextInput
          type="date"
          label={texts.begins}
          description={texts.beginsHelp}
          disabled={isDisabled}
          value={wanted.begins_blocking_on?.slice(0, 10) ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onChange({ begins_blocking_on: value === '' ? null : new Date(value).toISOString() })
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
