/* Asks an admin for a trusted device: sends the browser to prove it, and binds the session when it comes back. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { AlertIcon, ShieldCheckIcon } from '@primer/octicons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from '../api/client.ts'
import { Fault } from '../kit/confirm.tsx'
import { useTaken } from '../kit/use-taken.ts'
import { sessionQuery, signOut, useSession, type Session } from '../shell/session.ts'
import { SIGN_IN_PATH } from '../shell/sign-in-path.ts'
import { SignInFrame } from '../sign-in/sign-in-frame.tsx'
import classes from '../sign-in/sign-in-page.module.css'
import { SignInTitle } from '../sign-in/sign-in-title.tsx'
import {
  bindSession,
  DEVICE_PATH,
  forgetDeparture,
  noteDeparture,
  PROOF_ACTION,
  readReturn,
} from './device-calls.ts'
import { texts } from './texts.ts'

const HOME = '/console/'

export function TrustedDevicePage() {
  const session = useSession()
  const { next = HOME } = useSearch({ from: '/trusted-device' })
  if (session === null || session === undefined) return null
  return (
    <SignInFrame>
      <DeviceOfSession session={session} wanted={next} />
    </SignInFrame>
  )
}

interface DeviceOfSessionProps {
  readonly session: Session
  /** Where the admin wanted to go. */
  readonly wanted: string
}

function DeviceOfSession({ session, wanted }: DeviceOfSessionProps) {
  const queryClient = useQueryClient()
  const returned = useTaken(readReturn, forgetDeparture)
  const next = returned ?? wanted
  const { mutate, error, isPending, isIdle } = useMutation({
    mutationFn: bindSession,
    onSuccess: (bound) => {
      queryClient.setQueryData(sessionQuery.queryKey, bound)
      globalThis.location.replace(next)
    },
  })
  const isReturned = returned !== undefined
  useEffect(() => {
    if (isReturned) mutate()
  }, [isReturned, mutate])
  if (isPending || (isReturned && isIdle)) return <Loader aria-label={texts.proving} />
  const { problem, required } = session.trusted_device
  if (problem === null) return <Trusted next={next} />
  const isRefused = error instanceof ApiError && error.code === 'trusted_device_required'
  return (
    <Stack gap="lg">
      <SignInTitle title={required ? texts.required : texts.optional}>
        {texts.lead(session.admin.email)}
      </SignInTitle>
      {isRefused || problem === 'unbound' ? null : (
        <Alert color="red" icon={<AlertIcon />} role="alert" p="xs">
          {texts.problems[problem]}
        </Alert>
      )}
      <Fault error={error} />
      {problem === 'device_blocked' ? <Blocked /> : null}
      <ProofForm email={session.admin.email} next={next} />
      <SignOut />
      <details className={classes.help}>
        <summary>{texts.help}</summary>
        <Text size="sm" c="dimmed">
          {texts.helpText}
        </Text>
      </details>
    </Stack>
  )
}

/** A form, for the pages of a person are none of the console: the browser goes there. */
function ProofForm({ email, next }: { readonly email: string; readonly next: string }) {
  return (
    <form method="post" action={PROOF_ACTION} onSubmit={() => noteDeparture(next)}>
      <input type="hidden" name="email" value={email} />
      <input type="hidden" name="path" value={DEVICE_PATH} />
      <Button type="submit" size="md" fullWidth leftSection={<ShieldCheckIcon />}>
        {texts.prove}
      </Button>
    </form>
  )
}

/** What blocks a device is fixed elsewhere; the session goes on by itself once it is. */
function Blocked() {
  const queryClient = useQueryClient()
  return (
    <Group>
      <Anchor href="/sign-in/me">{texts.seeIssues}</Anchor>
      <Button
        variant="default"
        size="xs"
        onClick={() => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })}
      >
        {texts.again}
      </Button>
    </Group>
  )
}

function Trusted({ next }: { readonly next: string }) {
  return (
    <Stack gap="lg">
      <SignInTitle title={texts.trusted}>{texts.trustedLead}</SignInTitle>
      <Button component="a" href={next} size="md">
        {texts.goOn}
      </Button>
    </Stack>
  )
}

function SignOut() {
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => globalThis.location.assign(SIGN_IN_PATH),
  })
  return (
    <>
      <Button variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
        {texts.signOut}
      </Button>
      <Fault error={leave.error} />
    </>
  )
}
