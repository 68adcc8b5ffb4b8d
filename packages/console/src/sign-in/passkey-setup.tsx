/* A passkey for the next time. */
import { Button, Stack, TextInput } from '@mantine/core'
import { PasskeyFillIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Fault } from '../kit/confirm.tsx'
import type { Session } from '../shell/session.ts'
import { explain } from './explain.ts'
import { addPasskey } from './session-calls.ts'
import { texts } from './texts.ts'

interface PasskeySetupProps {
  readonly onDone: (session: Session) => void
}

export function PasskeySetup({ onDone }: PasskeySetupProps) {
  const [name, setName] = useState<string>(texts.thisDevice)
  const create = useMutation({ mutationFn: () => addPasskey(name), onSuccess: onDone })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack gap="lg">
        <TextInput
          label={texts.passkeyName}
          description={texts.passkeyNameHelp}
          value={name}
          required
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Fault error={explain(create.error)} />
        <Button
          type="submit"
          size="md"
          leftSection={<PasskeyFillIcon />}
          loading={create.isPending}
        >
          {texts.createPasskey}
        </Button>
      </Stack>
    </form>
  )
}
