import { getDevices } from '../api/generated/sdk.gen.ts'
import { RecordPicker, type Choice } from '../kit/record-picker.tsx'
import { quoteText } from '../kit/search-text.ts'
import { texts } from './texts.ts'

interface DevicePickerProps {
  readonly value: Choice | null
  readonly onChange: (device: Choice | null) => void
  readonly isDisabled?: boolean
  readonly isFirst?: boolean
  readonly isWide?: boolean
}

const FOUND_MAX = 20

/** Chooses a device by a part of its name. */
export function DevicePicker(props: DevicePickerProps) {
  return (
    <RecordPicker
      {...props}
      label={texts.device}
      placeholder={texts.devicePlaceholder}
      nothingFound={texts.noDevice}
      queryKey={['devices', 'list', 'picker']}
      find={async (text, signal) => {
        const search = text === '' ? {} : { query: `name~${quoteText(text)}` }
        const query = { per_page: FOUND_MAX, ...search }
        const { data } = await getDevices({ query, signal, throwOnError: true })
        return data.data.map(({ id, name }) => ({ value: id, label: name }))
      }}
    />
  )
}
