import { SegmentedControl } from '@mantine/core'

interface SearchSwitchProps {
  /** What is chosen, for those who cannot see it. */
  readonly name: string
  /** What the whole list is called. */
  readonly all: string
  /** What the part is called that `clause` finds. */
  readonly part: string
  readonly clause: string
  readonly query: string
  readonly onChange: (query: string) => void
}

/** The whole list or the part of it that is asked for most. Another search is neither. */
export function SearchSwitch({ name, all, part, clause, query, onChange }: SearchSwitchProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={name}
      value={query === clause ? 'part' : query === '' ? 'all' : ''}
      onChange={(next) => onChange(next === 'part' ? clause : '')}
      data={[
        { value: 'all', label: all },
        { value: 'part', label: part },
      ]}
    />
  )
}
