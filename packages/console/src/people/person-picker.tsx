import { getPeople } from '../api/generated/sdk.gen.ts'
import { RecordPicker, type Choice } from '../kit/record-picker.tsx'
import { quoteText } from '../kit/search-text.ts'
import { texts } from './texts.ts'

interface PersonPickerProps {
  readonly value: Choice | null
  readonly onChange: (person: Choice | null) => void
  readonly isFirst?: boolean
  readonly isWide?: boolean
}

const FOUND_MAX = 20

/** Chooses a person by a part of their name or address. */
export function PersonPicker(props: PersonPickerProps) {
  return (
    <RecordPicker
      {...props}
      label={texts.person}
      placeholder={texts.personPlaceholder}
      nothingFound={texts.noPerson}
      queryKey={['people', 'list', 'picker']}
      find={async (text, signal) => {
        const part = quoteText(text)
        const search = text === '' ? {} : { query: `name~${part} OR email~${part}` }
        const query = { per_page: FOUND_MAX, ...search }
        const { data } = await getPeople({ query, signal, throwOnError: true })
        return data.data.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))
      }}
    />
  )
}
