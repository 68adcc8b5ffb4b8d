/* Signing in by a password with a code, for whoever has no passkey at hand. */
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Fault } from '../kit/confirm.tsx'
import type { Session } from '../shell/session.ts'
import { CodeInput } from './code-input.tsx'
import { signInByPassword } from './session-calls.ts'
import { texts } from './texts.ts'

export function PasswordSignIn({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const signIn = useMutation({
    mutationFn: () => signInByPassword({ email, password, code }),
    onSuccess: onDone,
    // A code is taken once: whatever was wrong, another one is needed.
    onError: () => setCode(''),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        signIn.mutate()
      }}
    >
      <Stack gap="md">
        <TextInput
          label={texts.email}
          type="email"
          name="username"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordInput
          label={texts.password}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <CodeInput label={texts.code} value={code} onChange={setCode} />
        <Fault error={signIn.error} />
        <Button type="submit" size="md" loading={signIn.isPending}>
          {texts.go}
        </Button>
      </Stack>
    </form>
  )
}
