/* Where a new password is typed: says how far it is from long enough. */
import { PasswordInput, Text } from '@mantine/core'
import { texts } from './texts.ts'

interface NewPasswordInputProps {
  /** Whose password it is: password managers keep it with it. */
  readonly email: string
  readonly value: string
  readonly error?: string | undefined
  readonly onChange: (password: string) => void
}

/** As the service asks for it. */
const LENGTH_MIN = 12

export function NewPasswordInput({ email, value, error, onChange }: NewPasswordInputProps) {
  const left = LENGTH_MIN - [...value.normalize('NFKC')].length
  return (
    <>
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordInput
        label={texts.newPassword}
        description={
          <>
            {texts.newPasswordHelp}{' '}
            {value === '' ? null : (
              <Text span inherit aria-live="polite">
                {left > 0 ? texts.charactersLeft(left) : texts.longEnough}
              </Text>
            )}
          </>
        }
        name="new-password"
        autoComplete="new-password"
        required
        value={value}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </>
  )
}
