/* Right after a one-time link: a way to sign in for the next time, before anything opens. */
import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Session } from '../shell/session.ts'
import { PasskeySetup } from './passkey-setup.tsx'
import { PasswordSetUp } from './password-set-up.tsx'
import { ProviderButton } from './provider-button.tsx'
import { SignInTitle } from './sign-in-title.tsx'
import { texts } from './texts.ts'

interface SetUpProps {
  readonly session: Session
  /** Where the console goes on after a way out of it. */
  readonly next: string | undefined
  readonly onDone: (session: Session) => void
}

export function SetUp({ session, next, onDone }: SetUpProps) {
  const [isPassword, setPassword] = useState(false)
  return (
    <Stack gap="lg">
      <SignInTitle title={texts.setUpTitle}>
        {isPassword ? texts.passwordLead : texts.passkeyLead}
      </SignInTitle>
      {isPassword ? (
        <PasswordSetUp email={session.admin.email} onDone={onDone} />
      ) : (
        <PasskeySetup onDone={onDone} />
      )}
      <Button variant="subtle" onClick={() => setPassword(!isPassword)}>
        {isPassword ? texts.passkeyInstead : texts.passwordInstead}
      </Button>
      <ProviderButton purpose="connect" next={next} />
    </Stack>
  )
}
