/* Chooses a device by a part of its name. */
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getDevices } from '../api/generated/sdk.gen.ts'
import { texts } from './texts.ts'

interface DevicePickerProps {
  readonly value: string | null
  readonly onChange: (id: string | null) => void
  readonly isDisabled?: boolean
}

export function DevicePicker({ value, onChange, isDisabled = false }: DevicePickerProps) {
  const [text, setText] = useState('')
  const [name] = useDebouncedValue(text.trim(), 200)
  const { data = [] } = useQuery({
    queryKey: ['devices', 'list', 'picker', name],
    queryFn: async ({ signal }) => {
      const escaped = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
      const query = { per_page: 20, ...(name === '' ? {} : { query: `name~"${escaped}"` }) }
      return (await getDevices({ query, signal, throwOnError: true })).data.data
    },
    placeholderData: keepPreviousData,
  })
  return (
    <Select
      label={texts.device}
      disabled={isDisabled}
      placeholder={texts.devicePlaceholder}
      nothingFoundMessage={texts.noDevice}
      searchable
      clearable
      w={280}
      maw="100%"
      data={data.map((device) => ({ value: device.id, label: device.name }))}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
      onSearchChange={(next) => {
        if (!data.some((device) => device.name === next)) setText(next)
      }}
    />
  )
}
