/* A one-time link: it says whom it signs in, and is used when that is pressed. */
import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { Fault } from '../kit/confirm.tsx'
import { ErrorState } from '../kit/states.tsx'
import { useSession, type Session } from '../shell/session.ts'
import { Looking } from './looking.tsx'
import { followLink, readLink } from './session-calls.ts'
import classes from './sign-in-page.module.css'
import { SignInTitle } from './sign-in-title.tsx'
import { texts } from './texts.ts'

interface LinkSignInProps {
  readonly token: string
  readonly onDone: (session: Session) => void
  /** To the other ways in, of a link that is none. */
  readonly onLeave: () => void
}

export function LinkSignIn({ token, onDone, onLeave }: LinkSignInProps) {
  const {
    data: link,
    error,
    refetch,
  } = useQuery({
    queryKey: ['session', 'link'],
    queryFn: () => readLink(token),
    retry: false,
  })
  const [firstAdmin, setFirstAdmin] = useState<Readonly<Record<string, string>>>({})
  const follow = useMutation({
    mutationFn: () => followLink(token, firstAdmin),
    onSuccess: onDone,
  })
  const fault = follow.error ?? error
  if (fault !== null && isLinkRefused(fault)) return <BadLink onLeave={onLeave} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} isPage />
  if (link === undefined) return <Looking />
  const isFirst = link.kind === 'first_admin' && link.email === null
  const faults = follow.error instanceof ApiError ? follow.error.fields : {}
  const field = (name: string, label: string, type = 'text') => (
    <TextInput
      label={label}
      type={type}
      required
      value={firstAdmin[name] ?? ''}
      error={faults[name]}
      onChange={({ currentTarget }) =>
        setFirstAdmin({ ...firstAdmin, [name]: currentTarget.value })
      }
    />
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        follow.mutate()
      }}
    >
      <Stack gap="lg">
        <SignInTitle title={isFirst ? texts.firstTitle : texts.linkTitle}>
          {isFirst ? texts.firstLead : texts.linkLead(link.name ?? '', link.email ?? '')}
        </SignInTitle>
        {isFirst ? (
          <>
            <Group grow align="flex-start">
              {field('first_name', texts.firstName)}
              {field('last_name', texts.lastName)}
            </Group>
            {field('email', texts.email, 'email')}
          </>
        ) : null}
        <Fault error={follow.error} />
        <Button type="submit" size="md" loading={follow.isPending}>
          {isFirst ? texts.create : texts.go}
        </Button>
      </Stack>
    </form>
  )
}

/** Says what has become of a link, and leads to the other ways in. */
function BadLink({ onLeave }: Pick<LinkSignInProps, 'onLeave'>) {
  const session = useSession()
  return (
    <Stack gap="lg">
      <SignInTitle title={texts.badLink}>{texts.badLinkWhy}</SignInTitle>
      {session === null || session === undefined ? (
        <Button size="md" onClick={onLeave}>
          {texts.otherWay}
        </Button>
      ) : (
        <Button size="md" component="a" href="/console/">
          {texts.goOnAs(session.admin.email)}
        </Button>
      )}
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {texts.newLink}
        </Text>
        <Code block className={classes.command}>
          {texts.linkCommand}
        </Code>
      </Stack>
    </Stack>
  )
}

/** Whether the link is unknown, or used, or cannot be one. What else fails says nothing of it. */
function isLinkRefused(error: Error): boolean {
  if (!(error instanceof ApiError)) return false
  const isMalformed = error.code === 'invalid_body' && 'token' in error.fields
  return error.code === 'sign_in_failed' || isMalformed
}
