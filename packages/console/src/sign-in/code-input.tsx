/* Where the six digits of an authenticator app are typed. */
import { TextInput } from '@mantine/core'

interface CodeInputProps {
  readonly label: string
  readonly description?: string
  readonly value: string
  readonly error?: string | undefined
  /** Whether it is where one types first. */
  readonly isFocused?: boolean
  readonly onChange: (code: string) => void
}

export function CodeInput({ onChange, isFocused = false, ...input }: CodeInputProps) {
  return (
    <TextInput
      {...input}
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={7}
      required
      autoFocus={isFocused}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
