/* One SSF client: how it signs in, its secrets, and its streams. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteSsfClientsById, getSsfStreams } from '../api/generated/sdk.gen.ts'
import type { SsfClient, Stream } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { ActionDialog } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { readAll } from '../kit/read-all.ts'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { StreamStatus } from '../streams/stream-status.tsx'
import { texts as streamTexts } from '../streams/texts.ts'
import { SecretsSection } from './secrets-section.tsx'
import { ssfClientQuery } from './ssf-client-query.ts'
import { SsfClientState } from './ssf-client-state.tsx'
import { texts } from './texts.ts'

const { page: words } = texts

export function SsfClientPage() {
  const { clientId } = useParams({ from: '/frame/signals/clients/$clientId' })
  const query = useQuery(ssfClientQuery(clientId))
  return <Loaded query={query}>{(client) => <LoadedClient client={client} />}</Loaded>
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
        <SecretsSection client={client} canChange={canChange} />
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

function ClientStreams({ client }: { readonly client: SsfClient }) {
  const query = useQuery({
    queryKey: ['ssf_streams', 'list', 'all'],
    queryFn: ({ signal }) => readAll<Stream>(getSsfStreams, signal),
  })
  const audience = client.audience ?? client.client_id
  return (
    <Section title={words.streams} lead={words.streamsHelp}>
      <Loaded query={query} height={20}>
        {(all) => <StreamLinks streams={all.filter(({ aud }) => aud === audience)} />}
      </Loaded>
    </Section>
  )
}

function StreamLinks({ streams }: { readonly streams: readonly Stream[] }) {
  if (streams.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.noStreams}
      </Text>
    )
  }
  return (
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
  )
}

interface RevokeDialogProps {
  readonly client: SsfClient
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RevokeDialog({ client: { id, name }, isOpen, onClose }: RevokeDialogProps) {
  return (
    <ActionDialog
      isOpen={isOpen}
      title={words.revokeTitle(name)}
      label={words.revoke}
      typed={name}
      isDanger
      run={() => deleteSsfClientsById({ path: { id }, throwOnError: true })}
      done={words.revokedDone(name)}
      changes={[['ssf_clients'], ['ssf_streams']]}
      onClose={onClose}
    >
      {words.revokeHelp}
    </ActionDialog>
  )
}
