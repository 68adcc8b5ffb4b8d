/* Asks the admin to prove themselves again, for a request that the service would not carry out without. */
import { Button, Divider, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { PasskeyFillIcon } from '@primer/octicons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Fault } from '../kit/confirm.tsx'
import { sessionQuery, type Session } from '../shell/session.ts'
import { CodeInput } from './code-input.tsx'
import { explain } from './explain.ts'
import { ProviderButton } from './provider-button.tsx'
import { identitiesQuery, isConnected } from './provider-calls.ts'
import { readStepUpWays, stepUpByCode, stepUpByPasskey } from './session-calls.ts'
import { texts } from './texts.ts'

interface StepUpDialogProps {
  readonly isOpen: boolean
  /** Told whether the admin has proven themselves. */
  readonly onEnd: (isProven: boolean) => void
}

export function StepUpDialog({ isOpen, onEnd }: StepUpDialogProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={() => onEnd(false)}
      title={texts.stepUpTitle}
      size={440}
      zIndex={400}
    >
      <StepUp onEnd={onEnd} />
    </Modal>
  )
}

function StepUp({ onEnd }: Pick<StepUpDialogProps, 'onEnd'>) {
  const queryClient = useQueryClient()
  const { data: ways, error } = useQuery({
    queryKey: ['session', 'step-up ways'],
    queryFn: readStepUpWays,
    retry: false,
    gcTime: 0,
  })
  const finish = (session: Session) => {
    queryClient.setQueryData(sessionQuery.queryKey, session)
    onEnd(true)
  }
  const { data: identities = [] } = useQuery(identitiesQuery)
  const isAtProvider = isConnected(identities)
  return (
    <Stack>
      <Text size="sm">
        {isAtProvider || mayHaveWay(ways) ? texts.stepUpLead : texts.stepUpNoWay}
      </Text>
      <Fault error={error} />
      {ways === undefined && error === null ? (
        <Loader role="status" aria-label={texts.loading} />
      ) : null}
      {ways?.passkey ? <ByPasskey onDone={finish} /> : null}
      {ways?.passkey && ways.code ? <Divider label={texts.or} /> : null}
      {ways?.code === true ? <ByCode isFirst={ways.passkey === null} onDone={finish} /> : null}
      {isAtProvider ? <ByProvider /> : null}
      <Group justify="flex-end">
        <Button variant="default" onClick={() => onEnd(false)}>
          {texts.cancel}
        </Button>
      </Group>
    </Stack>
  )
}

/** Until the ways are known, there may be one. */
function mayHaveWay(ways: Awaited<ReturnType<typeof readStepUpWays>> | undefined): boolean {
  return ways?.passkey !== null || ways.code
}

/** The page is left: the admin comes back to it, and asks again. */
function ByProvider() {
  const { pathname, search } = globalThis.location
  return <ProviderButton purpose="step_up" next={`${pathname}${search}`} />
}

interface WayProps {
  readonly onDone: (session: Session) => void
}

function ByPasskey({ onDone }: WayProps) {
  const prove = useMutation({ mutationFn: stepUpByPasskey, onSuccess: onDone })
  return (
    <>
      <Button
        leftSection={<PasskeyFillIcon />}
        loading={prove.isPending}
        onClick={() => prove.mutate()}
        autoFocus
      >
        {texts.stepUp}
      </Button>
      <Fault error={explain(prove.error)} />
    </>
  )
}

function ByCode({ isFirst, onDone }: WayProps & { readonly isFirst: boolean }) {
  const [code, setCode] = useState('')
  const prove = useMutation({
    mutationFn: () => stepUpByCode(code),
    onSuccess: onDone,
    onError: () => setCode(''),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        prove.mutate()
      }}
    >
      <Stack gap="sm">
        <CodeInput label={texts.code} value={code} isFocused={isFirst} onChange={setCode} />
        <Fault error={prove.error} />
        <Button type="submit" variant={isFirst ? 'filled' : 'default'} loading={prove.isPending}>
          {texts.stepUpCode}
        </Button>
      </Stack>
    </form>
  )
}
