/* A new password with an authenticator app: the app is told a key, and proves by a code that it has it. */
import { Button, Loader, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { Fault } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import type { Session } from '../shell/session.ts'
import { CodeInput } from './code-input.tsx'
import { NewPasswordInput } from './new-password-input.tsx'
import { QrCode } from './qr-code.tsx'
import { offerApp, setUpPassword, type AppOffer } from './session-calls.ts'
import { texts } from './texts.ts'

interface PasswordSetUpProps {
  readonly email: string
  readonly onDone: (session: Session) => void
}

export function PasswordSetUp({ email, onDone }: PasswordSetUpProps) {
  const {
    data: offer,
    error,
    refetch,
  } = useQuery({
    queryKey: ['session', 'app offer'],
    queryFn: offerApp,
    retry: false,
    // Whoever looks at the code must see the key that is sent back, whatever else of the session has changed.
    staleTime: 'static',
    gcTime: 0,
  })
  if (error !== null) return <Fault error={error} />
  if (offer === undefined) return <Loader role="status" aria-label={texts.loading} />
  return <SetUpForm {...{ email, offer, onDone }} onEnded={() => void refetch()} />
}

interface SetUpFormProps extends PasswordSetUpProps {
  readonly offer: AppOffer
  /** The key is good no more. */
  readonly onEnded: () => void
}

function SetUpForm({ email, offer, onDone, onEnded }: SetUpFormProps) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const setUp = useMutation({
    mutationFn: () => setUpPassword(offer, { password, code }),
    onSuccess: onDone,
    onError: (fault) => {
      setCode('')
      if (fieldFaultsOf(fault)?.['proof'] !== undefined) onEnded()
    },
  })
  const faults = fieldFaultsOf(setUp.error)
  const error = faults?.['proof'] === undefined ? setUp.error : new Error(texts.offerEnded)
  const isBesideInput = faults?.['password'] !== undefined || faults?.['code'] !== undefined
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setUp.mutate()
      }}
    >
      <Stack gap="md">
        <NewPasswordInput
          email={email}
          value={password}
          error={faults?.['password']}
          onChange={setPassword}
        />
        <Stack gap={6}>
          <Text fw={600} size="sm">
            {texts.scanTitle}
          </Text>
          <QrCode value={offer.uri} label={texts.qrCode} />
          <Text size="xs" c="dimmed">
            {texts.scanHelp}
          </Text>
          <Copyable value={offer.key} label={offer.key.replaceAll(/(.{4})(?=.)/g, '$1 ')} isWhole />
        </Stack>
        <CodeInput
          label={texts.firstCode}
          description={texts.firstCodeHelp}
          value={code}
          error={faults?.['code']}
          onChange={setCode}
        />
        <Fault error={isBesideInput ? null : error} />
        <Button type="submit" size="md" loading={setUp.isPending}>
          {texts.setUpPassword}
        </Button>
      </Stack>
    </form>
  )
}
