/* A one-time link: it says whom it signs in, and is used when that is pressed. */
import { Button, Code, Group, Loader, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { Fault } from '../kit/confirm.tsx'
import { ErrorState } from '../kit/states.tsx'
import type { Session } from '../shell/session.ts'
import { followLink, readLink } from './session-calls.ts'
import classes from './sign-in-page.module.css'
import { texts } from './texts.ts'

interface LinkSignInProps {
  readonly token: string
  readonly onDone: (session: Session) => void
}

export function LinkSignIn({ token, onDone }: LinkSignInProps) {
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
  if (error !== null && !isRefused(error)) {
    return <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (error !== null) {
    return (
      <Stack gap="sm" role="alert">
        <Title order={1} className={classes.title}>
          {texts.badLink}
        </Title>
        <Text c="dimmed">{texts.badLinkHelp}</Text>
        <Code block>{texts.linkCommand}</Code>
      </Stack>
    )
  }
  if (link === undefined) return <Loader role="status" aria-label={texts.loading} />
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
        <div>
          <Title order={1} className={classes.title}>
            {isFirst ? texts.firstTitle : texts.linkTitle}
          </Title>
          <Text c="dimmed">
            {isFirst ? texts.firstLead : texts.linkLead(link.name ?? '', link.email ?? '')}
          </Text>
        </div>
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

/** Whether the link is unknown, or used, or cannot be one. What else fails says nothing of it. */
function isRefused(error: Error): boolean {
  return error instanceof ApiError && ['sign_in_failed', 'invalid_body'].includes(error.code)
}
