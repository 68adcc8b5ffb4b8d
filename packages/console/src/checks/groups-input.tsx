import { MultiSelect } from '@mantine/core'
import { getDeviceGroups } from '../api/generated/sdk.gen.ts'
import { useList } from '../kit/use-list.ts'

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

/** Chooses device groups and platforms. */
export function GroupsInput({ label, placeholder, isDisabled, value, onChange }: GroupsInputProps) {
  const { items } = useList(['device_groups', 'list', 'choices'], (page) => getDeviceGroups(page))
  const known = [...PLATFORMS, ...items.map(({ id, name }) => ({ value: id, label: name }))]
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
    />
  )
}
