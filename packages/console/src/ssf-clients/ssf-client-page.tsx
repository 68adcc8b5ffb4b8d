/* One SSF client: how it signs in, its secrets, and its streams. */
import { Button, Modal, Group, NumberInput, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteSsfClientsById,
  getSsfStreams,
  postSsfClientsByIdRotateSecret,
} from '../api/generated/sdk.gen.ts'
import type { IssuedSsfClient, SsfClient, Stream } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { StreamStatus } from '../streams/stream-status.tsx'
import { texts as streamTexts } from '../streams/texts.ts'
import { IssuedClientDialog } from './issued-client-dialog.tsx'
import { ssfClientQuery } from './ssf-client-query.ts'
import { SsfClientState } from './ssf-client-state.tsx'
import { texts } from './texts.ts'

const { page: words } = texts

export function SsfClientPage() {
  const { clientId } = useParams({ from: '/frame/signals/clients/$clientId' })
  const { data: client, error, refetch } = useQuery(ssfClientQuery(clientId))
  if (client !== undefined) return <LoadedClient client={client} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton m={28} height={320} />
}

function leadOf({ revoked_at: revokedAt, last_used_at: usedAt }: SsfClient): string {
  if (revokedAt !== null) return words.revokedLead
  return usedAt === null ? words.unusedLead : words.activeLead
}

function LoadedClient({ client }: { readonly client: SsfClient }) {
  const may = useMay(STREAMS_PERMISSION)
  const [isRevoking, setRevoking] = useState(false)
  const canChange = may && client.revoked_at === null
  return (
    <Page
      title={client.name}
      badge={<SsfClientState client={client} />}
      lead={leadOf(client)}
      above={[{ label: texts.title, to: '/signals/clients' }]}
      actions={
        <>
          <Button variant="default" disabled={!canChange} onClick={() => setRevoking(true)}>
            {words.revoke}
          </Button>
          <Button
            component={Link}
            to={`/signals/clients/${client.id}/edit`}
            variant="default"
            disabled={!canChange}
          >
            {texts.edit}
          </Button>
        </>
      }
    >
      <ClientFacts client={client} />
      {client.jwks === null ? (
        <Secrets client={client} canChange={canChange} />
      ) : (
        <Section title={words.keys} lead={words.signsLead}>
          <CodeBlock name={words.keys} value={client.jwks} />
        </Section>
      )}
      <ClientStreams client={client} />
      <RevokeDialog client={client} isOpen={isRevoking} onClose={() => setRevoking(false)} />
    </Page>
  )
}

function ClientFacts({ client }: { readonly client: SsfClient }) {
  return (
    <Section title={words.facts}>
      <Facts
        facts={[
          [texts.clientId, <Copyable key="id" value={client.client_id} />],
          [texts.method, texts.methods[client.authentication_method]],
          [texts.scopes, client.scopes.join(' ')],
          [
            words.audience,
            client.audience === null ? (
              words.sameAsId
            ) : (
              <Copyable key="a" value={client.audience} />
            ),
          ],
          [words.subjects, texts.form.subjectChoices[client.default_subjects ?? '']],
          [words.profile, streamTexts.form.profiles[client.profile]],
          [texts.lastUsed, <Time key="u" at={client.last_used_at} />],
          [texts.created, <Time key="c" at={client.created_at} />],
        ]}
      />
    </Section>
  )
}

interface SecretsProps {
  readonly client: SsfClient
  readonly canChange: boolean
}

function Secrets({ client, canChange }: SecretsProps) {
  const [isRotating, setRotating] = useState(false)
  const [issued, setIssued] = useState<IssuedSsfClient>()
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
      <Table verticalSpacing={8} horizontalSpacing="md" fz={13}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.token}</Table.Th>
            <Table.Th>{words.issued}</Table.Th>
            <Table.Th>{words.ends}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {client.secrets.map((secret) => (
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
      <RotateDialog
        id={client.id}
        isOpen={isRotating}
        onIssued={setIssued}
        onClose={() => setRotating(false)}
      />
      <IssuedClientDialog issued={issued} onClose={() => setIssued(undefined)} />
    </Section>
  )
}

interface RotateDialogProps {
  readonly id: string
  readonly isOpen: boolean
  readonly onIssued: (client: IssuedSsfClient) => void
  readonly onClose: () => void
}

function RotateDialog({ id, isOpen, onIssued, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState<number | string>(24)
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
    <Modal opened={isOpen} onClose={onClose} title={words.rotateTitle} size={440}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          rotate.mutate()
        }}
      >
        <Stack>
          <Text size="sm">{words.rotateHelp}</Text>
          <NumberInput label={words.overlap} min={0} value={hours} onChange={setHours} />
          <Fault error={rotate.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              {words.rotate}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function ClientStreams({ client }: { readonly client: SsfClient }) {
  const { data } = useQuery({
    queryKey: ['ssf_streams', 'list', 'all'],
    queryFn: async ({ signal }) => {
      const answer = await getSsfStreams({ query: { per_page: 100 }, signal, throwOnError: true })
      return (answer.data as { readonly data: readonly Stream[] }).data
    },
  })
  const audience = client.audience ?? client.client_id
  const streams = (data ?? []).filter(({ aud }) => aud === audience)
  return (
    <Section title={words.streams} lead={words.streamsHelp}>
      {streams.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noStreams}
        </Text>
      ) : (
        <Stack gap={6}>
          {streams.map(({ id, name, status }) => (
            <Group key={id} gap="sm">
              <Link to="/signals/streams/$streamId" params={{ streamId: id }}>
                {name}
              </Link>
              <StreamStatus status={status} isPlain />
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  )
}

interface RevokeDialogProps {
  readonly client: SsfClient
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RevokeDialog({ client: { id, name }, isOpen, onClose }: RevokeDialogProps) {
  const revoke = useAction({
    run: () => deleteSsfClientsById({ path: { id }, throwOnError: true }),
    done: words.revokedDone(name),
    changes: [['ssf_clients'], ['ssf_streams']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={words.revokeTitle(name)}
      label={words.revoke}
      typed={name}
      isDanger
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      {words.revokeHelp}
    </ConfirmDialog>
  )
}
