import { MultiSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getDeviceGroups } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { readAll } from '../kit/read-all.ts'

interface GroupsInputProps {
  readonly label: string
  readonly placeholder: string
  readonly isDisabled: boolean
  /** Ids of groups, and words of platforms. */
  readonly value: readonly string[]
  readonly onChange: (groups: string[]) => void
}

const PLATFORMS = [
  { value: 'macos', label: 'macOS' },
  { value: 'windows', label: 'Windows' },
  { value: 'linux', label: 'Linux' },
]

/** The groups and platforms that can be chosen; the groups once they are read. */
export function useGroupChoices() {
  const { data = [], error } = useQuery({
    queryKey: ['device_groups', 'list', 'choices'],
    queryFn: ({ signal }) => readAll<DeviceGroup>(getDeviceGroups, signal),
  })
  const groups = data.map(({ id, name }) => ({ value: id, label: name }))
  return { choices: [...PLATFORMS, ...groups], error }
}

/** Chooses device groups and platforms. */
export function GroupsInput({ label, placeholder, isDisabled, value, onChange }: GroupsInputProps) {
  const { choices: known, error } = useGroupChoices()
  const missing = value.filter((each) => !known.some((option) => option.value === each))
  return (
    <MultiSelect
      label={label}
      placeholder={value.length === 0 ? placeholder : ''}
      disabled={isDisabled}
      searchable
      data={[...known, ...missing.map((each) => ({ value: each, label: each }))]}
      value={[...value]}
      onChange={onChange}
      error={error?.message}
    />
  )
}
