/* One signing key: what it does now, and what each receiver has made of it. */
import { Button, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { postSsfSigningKeysByKidRevoke } from '../api/generated/sdk.gen.ts'
import type { SigningKey, SigningKeyReceiver } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { texts } from './texts.ts'

const TONES = {
  published: 'notified',
  active: 'good',
  retiring: 'warn',
  retired: 'unknown',
  revoked: 'bad',
  rolledBack: 'warn',
} as const

function situationOf(key: SigningKey): keyof typeof TONES {
  if (key.revoked_at !== null) return 'revoked'
  return key.rolled_back_at === null ? key.state : 'rolledBack'
}

export function SigningKeySection({ signingKey: key }: { readonly signingKey: SigningKey }) {
  const situation = situationOf(key)
  const fetched = key.receivers.filter(({ jwks_fetched_at: at }) => at !== null).length
  return (
    <Section
      title={key.kid}
      lead={texts.explained[situation]}
      actions={
        <>
          <StateBadge tone={TONES[situation]}>{texts.states[situation]}</StateBadge>
          {key.state === 'retired' || key.revoked_at !== null ? null : (
            <RevokeButton kid={key.kid} />
          )}
        </>
      }
    >
      <Stack>
        <Facts
          facts={[
            ['kid', <Copyable key="k" value={key.kid} />],
            [texts.algorithm, texts.bits(key.modulus_bits)],
            [texts.published, <Time key="p" at={key.published_at} isExact />],
            [texts.activeFrom, <Time key="a" at={key.active_from} isExact />],
            [
              texts.generalFrom,
              <Time key="g" at={key.general_from} absent={texts.refused} isExact />,
            ],
            [texts.retires, <Time key="r" at={key.retires_at} absent={texts.noEnd} isExact />],
            [texts.fetched, <Time key="f" at={key.jwks_fetched_at} absent={texts.notFetched} />],
          ]}
        />
        {key.receivers.length === 0 ? null : (
          <>
            <Text size="sm" fw={600}>
              {texts.fetchedBy(fetched, key.receivers.length)}
            </Text>
            <Receivers receivers={key.receivers} />
          </>
        )}
      </Stack>
    </Section>
  )
}

function Receivers({ receivers }: { readonly receivers: readonly SigningKeyReceiver[] }) {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing={7} fz={13}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.receiver}</Table.Th>
            <Table.Th>{texts.role}</Table.Th>
            <Table.Th>{texts.hasFetched}</Table.Th>
            <Table.Th>{texts.accepted}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {receivers.map((receiver) => (
            <Table.Tr key={receiver.stream_id}>
              <Table.Td>
                <Link to="/signals/streams/$streamId" params={{ streamId: receiver.stream_id }}>
                  {receiver.name}
                </Link>
              </Table.Td>
              <Table.Td>{useOf(receiver)}</Table.Td>
              <Table.Td>
                <Time at={receiver.jwks_fetched_at} absent={texts.never} />
              </Table.Td>
              <Table.Td>
                <Time at={receiver.first_accepted_at} absent={texts.never} />
                {receiver.refusal === null ? null : (
                  <Text size="xs" c="var(--helio-bad)">
                    {texts.said} {receiver.refusal}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function useOf({ rolled_back: isBack, in_use: isUsed, canary }: SigningKeyReceiver): string {
  if (isBack) return texts.back
  const use = isUsed ? texts.inUse : texts.notInUse
  return canary ? `${texts.canary}, ${use.toLowerCase()}` : use
}

function RevokeButton({ kid }: { readonly kid: string }) {
  const [isOpen, setOpen] = useState(false)
  const may = useMay(STREAMS_PERMISSION)
  const close = () => setOpen(false)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={!may}
        aria-label={texts.revokeOf(kid)}
        onClick={() => setOpen(true)}
      >
        {texts.revoke}
      </Button>
      <ActionDialog
        isOpen={isOpen}
        title={texts.revokeTitle}
        label={texts.revokeLabel}
        typed={kid.slice(0, 8)}
        isDanger
        run={() => postSsfSigningKeysByKidRevoke({ path: { kid }, throwOnError: true })}
        done={texts.revoked}
        changes={[['ssf_signing_keys'], ['ssf_streams']]}
        onClose={close}
      >
        {texts.revokeHelp}
      </ActionDialog>
    </>
  )
}
