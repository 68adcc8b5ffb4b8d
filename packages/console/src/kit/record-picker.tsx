/* Chooses one record of a long list: what is typed, the API looks for. */
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, type QueryKey } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

/** A record that can be chosen: its id, and what it is called. */
export interface Choice {
  readonly value: string
  readonly label: string
}

interface RecordPickerProps {
  readonly label: string
  readonly description?: string
  readonly placeholder?: string
  readonly nothingFound: string
  readonly value: Choice | null
  readonly onChange: (choice: Choice | null) => void
  readonly error?: ReactNode
  readonly isDisabled?: boolean
  /** Whether it has the focus when its dialog opens. */
  readonly isFirst?: boolean
  /** Whether it takes all the room there is. */
  readonly isWide?: boolean
  /** Names what is looked through; what is typed joins it. */
  readonly queryKey: QueryKey
  /** The first of those that a text finds; of all where it is empty. */
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>
}

const PAUSE_MS = 200

/** What is chosen keeps its name, whatever is found: a name that changes would replace what is being typed. */
function keepName(found: readonly Choice[], chosen: Choice | null): readonly Choice[] {
  if (chosen === null) return found
  const others = found.map((choice) => (choice.value === chosen.value ? chosen : choice))
  return others.includes(chosen) ? others : [...others, chosen]
}

export function RecordPicker(props: RecordPickerProps) {
  const { value, onChange, queryKey, find, isFirst = false, isWide = false } = props
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed.trim(), PAUSE_MS)
  const { data: found = [], error } = useQuery({
    queryKey: [...queryKey, text],
    queryFn: ({ signal }) => find(text, signal),
    placeholderData: keepPreviousData,
  })
  const isFound = (id: string) => found.some((choice) => choice.value === id)
  const known = keepName(found, value)
  return (
    <Select
      label={props.label}
      description={props.description}
      placeholder={props.placeholder}
      nothingFoundMessage={error === null ? props.nothingFound : error.message}
      error={props.error}
      disabled={props.isDisabled ?? false}
      data-autofocus={isFirst ? true : undefined}
      searchable
      clearable
      w={isWide ? undefined : 280}
      maw="100%"
      data={known}
      filter={({ options }) =>
        options.filter((option) => 'value' in option && isFound(String(option.value)))
      }
      value={value?.value ?? null}
      onChange={(id) => onChange(known.find((choice) => choice.value === id) ?? null)}
      onSearchChange={(next) => {
        if (!known.some(({ label }) => label === next)) setTyped(next)
      }}
    />
  )
}
