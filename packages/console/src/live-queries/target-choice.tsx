/* Chooses whom a live query asks, and says how many that are. */
import { Checkbox, MultiSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getDevices } from '../api/generated/sdk.gen.ts'
import classes from './live-queries.module.css'
import {
  COUNTED_MAX,
  countTargets,
  TARGET_PLATFORMS,
  type TargetPlatform,
  type Targets,
} from './targets.ts'
import { texts } from './texts.ts'

const PAUSE_MS = 200

const PLATFORM_LABELS: Readonly<Record<TargetPlatform, string>> = {
  Mac: texts.macs,
  Windows: texts.windows,
  Linux: texts.linux,
}

interface TargetChoiceProps {
  readonly targets: Targets
  readonly onChange: (targets: Targets) => void
  readonly fault: string | undefined
}

export function TargetChoice({ targets, onChange, fault }: TargetChoiceProps) {
  const { kind, platforms } = targets
  const { data: count, isSuccess } = useQuery({
    queryKey: ['devices', 'list', 'targets', targets],
    queryFn: async ({ signal }) => (await countTargets(targets, signal)) ?? null,
  })
  return (
    <Stack gap="sm">
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={texts.targets}
        value={kind}
        onChange={(next) => onChange({ ...targets, kind: next })}
        data={[
          { value: 'all', label: texts.all },
          { value: 'platforms', label: texts.byPlatform },
          { value: 'devices', label: texts.single },
        ]}
      />
      {kind === 'platforms' ? (
        <div className={classes.targets}>
          {TARGET_PLATFORMS.map((platform) => (
            <Checkbox
              key={platform}
              label={PLATFORM_LABELS[platform]}
              checked={platforms.includes(platform)}
              onChange={(event) =>
                onChange({
                  ...targets,
                  platforms: event.currentTarget.checked
                    ? [...platforms, platform]
                    : platforms.filter((each) => each !== platform),
                })
              }
            />
          ))}
        </div>
      ) : null}
      {kind === 'devices' ? (
        <DeviceChoice
          ids={targets.deviceIds}
          onChange={(deviceIds) => onChange({ ...targets, deviceIds })}
        />
      ) : null}
      {fault === undefined ? null : (
        <Text size="sm" c="red" role="alert">
          {fault}
        </Text>
      )}
      {isSuccess ? (
        <Text size="sm" c="dimmed" aria-live="polite">
          {texts.estimate(
            count === null ? texts.estimateMore(COUNTED_MAX) : texts.estimateOf(count),
          )}
        </Text>
      ) : null}
    </Stack>
  )
}

interface DeviceChoiceProps {
  readonly ids: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
}

function DeviceChoice({ ids, onChange }: DeviceChoiceProps) {
  const [text, setText] = useState('')
  const [part] = useDebouncedValue(text.trim(), PAUSE_MS)
  const { data: found = [] } = useQuery({
    queryKey: ['devices', 'list', 'choices', part, ids],
    queryFn: async ({ signal }) => {
      const read = async (query: string | undefined) => {
        const own = query === undefined ? {} : { query }
        const page = { query: { per_page: 50, ...own }, signal, throwOnError: true } as const
        return (await getDevices(page)).data.data
      }
      const byName = part === '' ? undefined : `name~"${part.replaceAll(/[\\"]/g, '\\$&')}"`
      const [matches, chosen] = await Promise.all([
        read(byName),
        ids.length === 0 ? [] : read(`id:[${ids.join(',')}]`),
      ])
      return [...new Map([...chosen, ...matches].map((device) => [device.id, device])).values()]
    },
    placeholderData: keepPreviousData,
  })
  return (
    <MultiSelect
      label={texts.devices}
      description={texts.devicesHelp}
      data={found.map(({ id, name }) => ({ value: id, label: name }))}
      value={[...ids]}
      onChange={onChange}
      searchValue={text}
      onSearchChange={setText}
      searchable
      hidePickedOptions
    />
  )
}
