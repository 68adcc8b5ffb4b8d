/* The tokens with which a receiver fetches its events. */
import { Button, Modal, NumberInput, Radio, Stack, Table, Text } from '@mantine/core'
import { KeyIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { postSsfStreamsByIdPollToken } from '../api/generated/sdk.gen.ts'
import type { PollTokens, Stream } from '../api/generated/types.gen.ts'
import { ActionDialog, DialogForm } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { pollTokensQuery, STREAMS_PERMISSION } from './stream-queries.ts'
import { tabTexts } from './tab-texts.ts'
import { texts } from './texts.ts'

/** How long what was used before goes on, unless another time is entered. */
const OVERLAP_HOURS = 24

const { pollTokensTab: words } = tabTexts

export function PollTokensTab({ stream }: { readonly stream: Stream }) {
  const query = useQuery(pollTokensQuery(stream.id))
  return (
    <Loaded query={query} height={220}>
      {({ tokens }) => <PollTokens stream={stream} tokens={tokens} />}
    </Loaded>
  )
}

interface TokensProps {
  readonly tokens: PollTokens['tokens']
}

function PollTokens({ stream, tokens }: TokensProps & { readonly stream: Stream }) {
  const { id } = stream
  const isPolled = stream.delivery_type === 'poll'
  const [dialog, setDialog] = useState<'issue' | 'revoke'>()
  const [token, setToken] = useState<string>()
  const may = useMay(STREAMS_PERMISSION)
  const close = () => setDialog(undefined)
  return (
    <Section
      title={words.title}
      lead={words.lead}
      isFlush
      actions={
        <>
          <Button
            variant="default"
            disabled={!may || tokens.length === 0}
            onClick={() => setDialog('revoke')}
          >
            {words.revoke}
          </Button>
          {isPolled && (
            <Button disabled={!may} onClick={() => setDialog('issue')}>
              {words.issue}
            </Button>
          )}
        </>
      }
    >
      <TokenTable tokens={tokens} noneHelp={isPolled ? words.noneHelp : words.pushedHelp} />
      <Modal opened={dialog === 'issue'} onClose={close} title={words.issueTitle} size={460}>
        <IssueForm id={id} onIssued={setToken} onClose={close} />
      </Modal>
      <RevokeDialog id={id} isOpen={dialog === 'revoke'} onClose={close} />
      <IssuedSecretDialog
        title={words.issuedTitle}
        secrets={token === undefined ? [] : [{ name: texts.form.pollToken, value: token }]}
        onClose={() => setToken(undefined)}
      >
        {texts.form.issuedLead}
      </IssuedSecretDialog>
    </Section>
  )
}

function TokenTable({ tokens, noneHelp }: TokensProps & { readonly noneHelp: string }) {
  if (tokens.length === 0) {
    return (
      <EmptyState icon={KeyIcon} title={words.none}>
        {noneHelp}
      </EmptyState>
    )
  }
  return (
    <Table verticalSpacing={8} horizontalSpacing="md" fz={13}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.token}</Table.Th>
          <Table.Th>{words.created}</Table.Th>
          <Table.Th>{words.used}</Table.Th>
          <Table.Th>{words.expires}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tokens.map((each) => (
          <Table.Tr key={each.id}>
            <Table.Td>
              <code>••••{each.last_four}</code>
            </Table.Td>
            <Table.Td>
              <Time at={each.created_at} />
            </Table.Td>
            <Table.Td>
              <Time at={each.last_used_at} absent={words.never} />
            </Table.Td>
            <Table.Td>
              <Time at={each.expires_at} absent={words.noEnd} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface IssueFormProps {
  readonly id: string
  readonly onIssued: (token: string) => void
  readonly onClose: () => void
}

function IssueForm({ id, onIssued, onClose }: IssueFormProps) {
  const [mode, setMode] = useState<'overlap' | 'immediate'>('overlap')
  const [hours, setHours] = useState<number | string>(OVERLAP_HOURS)
  const issue = useAction({
    run: async () =>
      (
        await postSsfStreamsByIdPollToken({
          path: { id },
          body:
            mode === 'overlap'
              ? { mode, overlap_seconds: Math.round(Number(hours) * 3600) }
              : { mode },
          throwOnError: true,
        })
      ).data,
    changes: [['ssf_streams', id]],
    showsFailure: true,
    onDone: ({ poll_bearer_token: token }) => {
      onClose()
      if (token !== null) onIssued(token)
    },
  })
  return (
    <DialogForm
      label={words.issue}
      isChanged={mode !== 'overlap' || hours !== OVERLAP_HOURS}
      isPending={issue.isPending}
      error={issue.error}
      onSubmit={() => issue.mutate()}
      onClose={onClose}
    >
      <Radio.Group value={mode} onChange={(next) => setMode(next)}>
        <Stack gap="xs">
          <Radio value="overlap" label={words.modes.overlap} />
          <Radio value="immediate" label={words.modes.immediate} />
        </Stack>
      </Radio.Group>
      {mode === 'overlap' ? (
        <NumberInput label={words.overlap} min={1} max={720} value={hours} onChange={setHours} />
      ) : null}
    </DialogForm>
  )
}

interface RevokeDialogProps {
  readonly id: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RevokeDialog({ id, isOpen, onClose }: RevokeDialogProps) {
  return (
    <ActionDialog
      isOpen={isOpen}
      title={words.revokeTitle}
      label={words.revokeLabel}
      isDanger
      run={() =>
        postSsfStreamsByIdPollToken({ path: { id }, body: { mode: 'disable' }, throwOnError: true })
      }
      done={words.revoked}
      changes={[['ssf_streams', id]]}
      onClose={onClose}
    >
      <Text size="sm">{words.revokeHelp}</Text>
    </ActionDialog>
  )
}
