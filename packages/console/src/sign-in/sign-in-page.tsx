/*
 * Signing in: by a passkey, a password with a code, or a one-time link, after which the admin chooses a way for the
 * next time.
 */
import { Button, Divider, Stack, Text } from '@mantine/core'
import { KeyIcon, PasskeyFillIcon } from '@primer/octicons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isDeviceMissing, sessionQuery, useSession, type Session } from '../shell/session.ts'
import { Fault } from '../kit/confirm.tsx'
import { useTaken } from '../kit/use-taken.ts'
import { LinkSignIn } from './link-sign-in.tsx'
import { Looking } from './looking.tsx'
import { explain } from './explain.ts'
import { ProviderButton } from './provider-button.tsx'
import { PasswordSignIn } from './password-sign-in.tsx'
import { signInByPasskey } from './session-calls.ts'
import { SetUp } from './set-up.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import classes from './sign-in-page.module.css'
import { SignedInAlready } from './signed-in-already.tsx'
import { SignInTitle } from './sign-in-title.tsx'
import { texts } from './texts.ts'
import { noteTried, readTried } from './tried-page.ts'

const HOME = '/console/'

const TOKEN = /^#token=(.*)$/

export function SignInPage() {
  const { next } = useSearch({ from: '/sign-in' })
  const queryClient = useQueryClient()
  const session = useSession()
  const token = useTaken(readToken, clearToken)
  useEffect(() => {
    window.addEventListener('hashchange', beginAnew)
    return () => window.removeEventListener('hashchange', beginAnew)
  }, [])
  const [isLinkLeft, setLinkLeft] = useState(false)
  const [isEntering, setEntering] = useState(false)
  const wasSignedOut = useWasSignedOut(session)
  const enter = (opened: Session) => {
    queryClient.setQueryData(sessionQuery.queryKey, opened)
    setLinkLeft(true)
    setEntering(!opened.setup_required)
  }
  // A page that leads here although its session is valid would do so again.
  const [wasTried] = useState(() => next !== undefined && next === readTried())
  const hasSignedIn = isEntering || wasSignedOut
  // Somebody who is signed in, or has signed in in another window meanwhile, is asked for nothing.
  const mayLeave = (hasSignedIn || !wasTried) && (token === undefined || isLinkLeft)
  const isLeaving = isEntering || (isSignedIn(session) && mayLeave)
  useEffect(() => {
    if (!isLeaving) return
    noteTried(hasSignedIn ? undefined : next)
    // Nobody who goes back from there is to come here.
    globalThis.location.replace(next ?? HOME)
  }, [isLeaving, hasSignedIn, next])
  return (
    <SignInFrame>
      {isLeaving ? (
        <Looking />
      ) : session?.setup_required === true ? (
        <SetUp session={session} next={next} onDone={enter} />
      ) : token !== undefined && !isLinkLeft ? (
        <LinkSignIn token={token} onDone={enter} onLeave={() => setLinkLeft(true)} />
      ) : (
        <SignIn session={session ?? undefined} next={next} onDone={enter} />
      )}
    </SignInFrame>
  )
}

/** Whether nobody was signed in at some time since the page has opened. */
function useWasSignedOut(session: Session | null | undefined): boolean {
  const [wasSignedOut, setSignedOut] = useState(false)
  if (session === null && !wasSignedOut) setSignedOut(true)
  return wasSignedOut
}

function isSignedIn(session: Session | null | undefined): boolean {
  if (session === null || session === undefined) return false
  return !session.setup_required && !isDeviceMissing(session)
}

function readToken(): string | undefined {
  return TOKEN.exec(globalThis.location.hash)?.[1]
}

/** For a link that is opened in the window of this page: the browser goes to it without loading anything. */
function beginAnew(): void {
  if (readToken() !== undefined) globalThis.location.reload()
}

/** Removes the token from the address, so that it is in no history. */
function clearToken(): void {
  if (readToken() !== undefined) {
    globalThis.history.replaceState(null, '', globalThis.location.pathname)
  }
}

interface SignInProps {
  readonly onDone: (session: Session) => void
}

interface WaysProps extends SignInProps {
  /** Of whoever is signed in already. */
  readonly session: Session | undefined
  readonly next: string | undefined
}

function SignIn({ session, next, onDone }: WaysProps) {
  const [isPassword, setPassword] = useState(false)
  return (
    <Stack gap="lg">
      <SignInTitle title={texts.title}>{texts.lead}</SignInTitle>
      {session === undefined ? null : <SignedInAlready session={session} next={next ?? HOME} />}
      {isPassword ? <PasswordSignIn onDone={onDone} /> : <PasskeySignIn onDone={onDone} />}
      <Divider label={texts.or} />
      <Button
        variant="default"
        leftSection={isPassword ? <PasskeyFillIcon /> : <KeyIcon />}
        onClick={() => setPassword(!isPassword)}
      >
        {isPassword ? texts.usePasskey : texts.usePassword}
      </Button>
      <ProviderButton purpose="sign_in" next={next} />
      <details className={classes.help}>
        <summary>{texts.noWay}</summary>
        <Text size="sm" c="dimmed">
          {texts.noWayHelp}
        </Text>
      </details>
    </Stack>
  )
}

function PasskeySignIn({ onDone }: SignInProps) {
  const signIn = useMutation({ mutationFn: signInByPasskey, onSuccess: onDone })
  return (
    <>
      <Button
        size="md"
        leftSection={<PasskeyFillIcon />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        {texts.passkey}
      </Button>
      <Fault error={explain(signIn.error)} />
    </>
  )
}
