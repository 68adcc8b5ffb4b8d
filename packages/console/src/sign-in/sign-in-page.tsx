/* Signing in: by a passkey, a password with a code, or a one-time link, after which the admin chooses a way for the next time. */
import { Button, Divider, Stack, Text, Title } from '@mantine/core'
import { KeyIcon, PasskeyFillIcon } from '@primer/octicons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { sessionQuery, useSession, type Session } from '../shell/session.ts'
import { Fault } from '../kit/confirm.tsx'
import { LinkSignIn } from './link-sign-in.tsx'
import { explain } from './explain.ts'
import { ProviderButton } from './provider-button.tsx'
import { PasswordSignIn } from './password-sign-in.tsx'
import { signInByPasskey } from './session-calls.ts'
import { SetUp } from './set-up.tsx'
import classes from './sign-in-page.module.css'
import { texts } from './texts.ts'

const TOKEN = /^#token=([\w-]+)$/

export function SignInPage() {
  const { next } = useSearch({ from: '/sign-in' })
  const queryClient = useQueryClient()
  const session = useSession()
  // Read once: the token leaves the address at once, so that it is in no history.
  const [token] = useState(takeToken)
  const [isLinkUsed, setLinkUsed] = useState(false)
  const enter = (opened: Session) => {
    queryClient.setQueryData(sessionQuery.queryKey, opened)
    setLinkUsed(true)
    if (!opened.setup_required) globalThis.location.assign(next ?? '/console/')
  }
  return (
    <div className={classes.page}>
      <div className={classes.sky} aria-hidden>
        <Beam />
        <p className={classes.motto}>{texts.motto}</p>
      </div>
      <main className={classes.side}>
        <div className={classes.form}>
          <img src="/console/heliograph.svg" width={44} height={44} alt="" />
          {session?.setup_required === true ? (
            <SetUp session={session} next={next} onDone={enter} />
          ) : token !== undefined && !isLinkUsed ? (
            <LinkSignIn token={token} onDone={enter} />
          ) : (
            <SignIn next={next} onDone={enter} />
          )}
        </div>
      </main>
    </div>
  )
}

function takeToken(): string | undefined {
  const [, token] = TOKEN.exec(globalThis.location.hash) ?? []
  if (token !== undefined) {
    globalThis.history.replaceState(null, '', globalThis.location.pathname)
  }
  return token
}

interface SignInProps {
  readonly onDone: (session: Session) => void
}

function SignIn({ next, onDone }: SignInProps & { readonly next: string | undefined }) {
  const [isPassword, setPassword] = useState(false)
  return (
    <Stack gap="lg">
      <div>
        <Title order={1} className={classes.title}>
          {texts.title}
        </Title>
        <Text c="dimmed">{texts.lead}</Text>
      </div>
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

/** The mirror and its beam. */
function Beam() {
  return (
    <svg viewBox="0 0 400 400" className={classes.beam}>
      <defs>
        <radialGradient id="glow" cx="0.5" cy="0.5" r="0.5">
          <stop offset="0" stopColor="#ffc24b" stopOpacity="0.9" />
          <stop offset="1" stopColor="#ffc24b" stopOpacity="0" />
        </radialGradient>
      </defs>
      <circle cx="150" cy="200" r="150" fill="url(#glow)" opacity="0.35" />
      <path d="M150 200 400 -30 400 60Z" fill="#ffc24b" opacity="0.28" />
      <path d="M150 200 400 -4 400 34Z" fill="#ffc24b" opacity="0.55" />
      <circle cx="150" cy="200" r="52" fill="#ffc24b" />
      <circle cx="150" cy="200" r="52" fill="none" stroke="#ffe2a6" strokeWidth="6" />
      <path d="M150 252v44M122 300h56" stroke="#a7b7c4" strokeWidth="8" strokeLinecap="round" />
    </svg>
  )
}
