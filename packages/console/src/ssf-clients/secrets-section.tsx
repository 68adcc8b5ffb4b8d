/* The secrets of an SSF client, and their rotation. */
import { Button, Modal, NumberInput, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { postSsfClientsByIdRotateSecret } from '../api/generated/sdk.gen.ts'
import type { IssuedSsfClient, SsfClient } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { IssuedClientDialog } from './issued-client-dialog.tsx'
import { texts } from './texts.ts'

/** How long what was used before goes on, unless another time is entered. */
const OVERLAP_HOURS = 24

const { page: words } = texts

interface SecretsSectionProps {
  readonly client: SsfClient
  readonly canChange: boolean
}

export function SecretsSection({ client, canChange }: SecretsSectionProps) {
  const [isRotating, setRotating] = useState(false)
  const [issued, setIssued] = useState<IssuedSsfClient>()
  const stopRotating = () => setRotating(false)
  return (
    <Section
      title={words.secrets}
      lead={words.secretsLead}
      isFlush
      actions={
        <Button variant="default" disabled={!canChange} onClick={() => setRotating(true)}>
          {words.rotate}
        </Button>
      }
    >
      <SecretTable secrets={client.secrets} />
      <Modal opened={isRotating} onClose={stopRotating} title={words.rotateTitle} size={440}>
        <RotateForm id={client.id} onIssued={setIssued} onClose={stopRotating} />
      </Modal>
      <IssuedClientDialog issued={issued} onClose={() => setIssued(undefined)} />
    </Section>
  )
}

function SecretTable({ secrets }: Pick<SsfClient, 'secrets'>) {
  return (
    <Table verticalSpacing={8} horizontalSpacing="md" fz={13}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.token}</Table.Th>
          <Table.Th>{words.issued}</Table.Th>
          <Table.Th>{words.ends}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {secrets.map((secret) => (
          <Table.Tr key={`${secret.created_at}${secret.last_four}`}>
            <Table.Td>
              <code>••••{secret.last_four}</code>
            </Table.Td>
            <Table.Td>
              <Time at={secret.created_at} />
            </Table.Td>
            <Table.Td>
              <Time at={secret.expires_at} absent={words.noEnd} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface RotateFormProps {
  readonly id: string
  readonly onIssued: (client: IssuedSsfClient) => void
  readonly onClose: () => void
}

function RotateForm({ id, onIssued, onClose }: RotateFormProps) {
  const [hours, setHours] = useState<number | string>(OVERLAP_HOURS)
  const rotate = useAction({
    run: async () => {
      const body = { overlap_seconds: Math.round(Number(hours) * 3600) }
      return (await postSsfClientsByIdRotateSecret({ path: { id }, body, throwOnError: true })).data
    },
    changes: [['ssf_clients']],
    showsFailure: true,
    onDone: (client) => {
      onClose()
      onIssued(client)
    },
  })
  return (
    <DialogForm
      label={words.rotate}
      isChanged={hours !== OVERLAP_HOURS}
      isPending={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{words.rotateHelp}</Text>
      <NumberInput label={words.overlap} min={0} value={hours} onChange={setHours} />
    </DialogForm>
  )
}
