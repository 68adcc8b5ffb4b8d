/* Says to somebody who is signed in, and is not led on, who they are here. */
import { Alert, Button, Group, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Fault } from '../kit/confirm.tsx'
import { isDeviceMissing, signOut, type Session } from '../shell/session.ts'
import { texts } from './texts.ts'

interface SignedInAlreadyProps {
  readonly session: Session
  /** A page of the console. */
  readonly next: string
}

export function SignedInAlready({ session, next }: SignedInAlreadyProps) {
  const leave = useMutation({
    mutationFn: signOut,
    // Nothing of what was read is kept for whoever signs in next.
    onSuccess: () => globalThis.location.reload(),
  })
  return (
    <Alert color="signal" role="status" title={texts.signedInAs(session.admin.email)}>
      <Stack gap="sm">
        {isDeviceMissing(session) ? texts.deviceNotProven : texts.signedInHelp}
        <Group gap="xs">
          <Button component="a" href={next}>
            {texts.goOn}
          </Button>
          <Button variant="subtle" loading={leave.isPending} onClick={() => leave.mutate()}>
            {texts.otherAccount}
          </Button>
        </Group>
        <Fault error={leave.error} />
      </Stack>
    </Alert>
  )
}
